"""Copy a source (a META name, say) into an attribute that may have several values.

Generate fn=copy_mv src=topic dst=classification
"""

from collections.abc import Mapping

from ingather.plugins import NOACTION, PROCEED, Answer, FilterView, Kind, ParameterSpec, Phase, Resource, raf


@raf(
    phases={Phase.GENERATE},
    parameters=[
        ParameterSpec("src", Kind.NAME, required=True, help="source that is copied"),
        ParameterSpec("dst", Kind.NAME, required=True, help="attribute that gets its values"),
        ParameterSpec("separator", default=",", help="what stands between values"),
    ],
)
def copy_mv(params: Mapping[str, str], _: FilterView, resource: Resource) -> Answer:
    """Copy the values of a source into an attribute, each once."""
    texts = resource.values(params["src"])
    if not texts:
        return NOACTION
    for text in texts:
        for value in text.split(params["separator"]):
            if value.strip():
                resource.rd.add(params["dst"], value.strip())
    return PROCEED
