"""Requests made up from the description of the API: no error of the server, and answers as described."""

import pytest
from hypothesis import HealthCheck, given, settings

from ftor.model.model import Model
from support.served import Served

EXAMPLES = {"/v1/predict": 40, "/v1/models": 3, "/health": 3, "/metrics": 3}


@pytest.mark.slow
def test_made_up_requests_are_answered_as_described(trained):
    schemathesis = pytest.importorskip("schemathesis")
    model = Model.load(trained)
    with Served({"tiny": model}, wait=0) as served:
        schema = schemathesis.openapi.from_url(f"{served.url}/openapi.json")
        operations = [operation.ok() for operation in schema.get_all_operations()]
        assert {operation.path for operation in operations} == set(EXAMPLES)
        statuses = set()
        for operation in operations:
            modes = schemathesis.GenerationMode if operation.body else [schemathesis.GenerationMode.POSITIVE]
            for mode in modes:

                @settings(
                    max_examples=EXAMPLES[operation.path],
                    database=None,
                    suppress_health_check=list(HealthCheck),
                )
                @given(operation.as_strategy(mode))
                def check(case):
                    response = case.call()
                    statuses.add(response.status_code)
                    case.validate_response(response)

                check()
        assert {200, 422} <= statuses
        assert max(statuses) < 500
