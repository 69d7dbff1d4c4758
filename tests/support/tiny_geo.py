"""A small country of our own making, as Prolog facts."""

from pathlib import Path

GEOBASE = """\
% name, abbreviation, capital, population, area, admission, four cities
state('avalon','av','port avon',1000.5e+3,200,1,'port avon','mill','ash','elm').
state('north brook', 'nb','mill',2.0e+6,100.0,2,'mill','ash','oak','yew').
state('quill',qu,'tern',600,50,3,'tern','gull','auk','skua').

city('avalon','av','port avon',200000).
city('avalon','av','mill',100000).
city('north brook','nb','mill',300000).
city('quill','qu','gull',150000).
river('avon',800,['avalon','north brook','avalon']).
river('red',300,['quill']).
river('little red',300,['north brook','quill']).
border('avalon','av',['north brook']).
border('north brook','nb',['avalon','quill']).
border('quill','qu',['north brook']).
highlow('avalon','av','mount gale',900,'avon river',5).
highlow('north brook','nb','high moor',900,'avon river',20).
highlow('quill','qu','tor',100,'red river',-3).
lake('mere',10,['avalon']).
mountain('quill','qu','king''s seat',
         80).
road('1',['avalon','quill']).
"""


def write(folder: Path) -> Path:
    """Make a data folder that holds the facts."""
    path = folder / "geo" / "geobase.pl"
    path.parent.mkdir(parents=True)
    path.write_text(GEOBASE)
    return folder
