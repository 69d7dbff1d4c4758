"""ATIS: flight queries in FunQL. Conjunctions have brackets, and the order of their parts does not count."""

from collections.abc import Sequence
from functools import lru_cache

from ftor.datasets import terms
from ftor.datasets.published import RELEASED_DATA, PublishedDataset, sha256sums
from ftor.datasets.terms import QueryError, Term
from ftor.metrics import Judge

CONJUNCTIONS = ("intersection", "or")
"""Functions that are written with brackets: `( intersection a b … )`."""
_OF_ONE_ARGUMENT = """
    _<_arrival_time_2 _<_departure_time_2 _<_fare_2 _>_arrival_time_2 _>_capacity_2 _>_departure_time_2
    _>_stops_2 _abbrev _after_day_2 _air_taxi_operation _aircraft _aircraft_1 _aircraft_2
    _aircraft_basis_type_2 _airline _airline_1 _airline_2 _airline_name _airport _airport_1
    _approx_arrival_time_2 _approx_departure_time_2 _approx_return_time_2 _arrival_time _arrival_time_2
    _before_day_2 _booking_class:_t _booking_class_1 _booking_class_2 _capacity _city _class_of_service
    _class_type_2 _connecting _daily _day_2 _day_after_tomorrow _day_arrival_2 _day_number_2
    _day_number_arrival_2 _day_number_return_2 _day_return_2 _days_from_today_2 _departure_time
    _departure_time_2 _discounted _during_day_2 _during_day_arrival_2 _economy _fare _fare_2
    _fare_basis_code _fare_basis_code_2 _fare_time _flight _flight_aircraft _flight_airline _flight_fare
    _flight_number _flight_number_2 _from_1 _from_2 _from_airport_2 _ground_fare _ground_transport _has_meal
    _has_stops _jet _limousine _loc:_t_1 _loc:_t_2 _manufacturer_2 _max _meal _meal_2 _meal_code
    _meal_code_2 _min _minimum_connection_time _minutes_distant _month_2 _month_arrival_2 _month_return_2
    _named_1 _next_days_2 _nonstop _oneway _overnight _rapid_transit _rental_car _restriction_code
    _round_trip _services_1 _services_2 _stop_1 _stop_2 _stop_arrival_time _stops _stops_2 _taxi
    _time_elapsed _time_elapsed_2 _time_zone_code _to_1 _to_2 _to_city_2 _today _tomorrow _tomorrow_arrival
    _tonight _turboprop _weekday _year_2 aircraft_code airline_code airport_code answer argmax_arrival_time
    argmax_capacity argmax_count argmax_departure_time argmax_fare argmax_stops argmin_arrival_time
    argmin_capacity argmin_departure_time argmin_fare argmin_miles_distant_2 argmin_stops
    argmin_time_elapsed basis_type city_name class_description count day day_number day_period days_code
    dollar fare_basis_code flight_number hour integer manufacturer meal_code meal_description month not
    state_name sum_capacity sum_stops time year
"""
ARITIES = dict.fromkeys(_OF_ONE_ARGUMENT.split(), 1)
ARITIES |= {"_equals": 2, "_miles_distant": 2, "_services": 2}
"""The number of arguments of the other functions. Tokens that are not listed are constants."""


def read(tokens: Sequence[str]) -> Term:
    """Read a query, or raise a `QueryError` that names the token."""
    return terms.read(tokens, ARITIES, CONJUNCTIONS)


def write(query: Term) -> list[str]:
    """The tokens of a query."""
    return terms.write(query, CONJUNCTIONS)


def canonical(query: Term) -> Term:
    """Sort the parts of all conjunctions. Nested conjunctions stay nested, and repeated parts repeated."""
    arguments = tuple(map(canonical, query.arguments))
    return Term(query.head, tuple(sorted(arguments)) if query.head in CONJUNCTIONS else arguments)


def same_tree(gold: Sequence[str], predicted: Sequence[str]) -> bool:
    """Whether two queries differ only in the order of parts. One that cannot be read equals only itself."""
    if list(gold) == list(predicted):
        return True
    expected = _canonical(tuple(gold))
    return expected is not None and expected == _canonical(tuple(predicted))


@lru_cache(maxsize=20_000)
def _canonical(tokens: tuple[str, ...]) -> Term | None:
    """The tree to compare, or None if it cannot be read. Cached, because golds return in every epoch."""
    try:
        return canonical(read(tokens))
    except QueryError:
        return None


FILES = sha256sums("""
f1cc9f1288875c5be40937084175683169fb8ce7389bfba711bb507caef306e2  atis/atis_funql_dev_brackets.tsv
d566a7d7ea1f4697f1a5a99688db8374abe1635fd8bb5ca8c03d82b63bb6dffd  atis/atis_funql_length4_dev_brackets.tsv
ed623bfe3d6ea841a7315ac8e793782c79b3d933c68df13ebfe5a85f376bd3df  atis/atis_funql_length4_test_brackets.tsv
b7e5bd4a06eb8a7e978d661f5480f4325aebb1c715964257d4a648d76f1f24c9  atis/atis_funql_length4_train_brackets.tsv
d3f627441d67511edd4b741526edf344b604902e7298d39ae434ab45793038b0  atis/atis_funql_test_brackets.tsv
83cfdac6a854c137e4e545da16196b55f474b6c74fd7481da2cc8a639c10bcd8  atis/atis_funql_train_brackets.tsv
""")
DATASETS = (
    PublishedDataset(
        "atis", FILES, (RELEASED_DATA,), judges=lambda data_folder: (Judge("tree_accuracy", same_tree),)
    ),
)
