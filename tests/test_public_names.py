"""Every public name says what it takes, what it returns and what it raises, and shows an example that runs.

The examples themselves run as doctests.
"""

import inspect
import re
import typing
from collections.abc import Iterator

import pytest

import metaml
import metaml_kb

OFFERED = {
    f"{module.__name__}.{name}": getattr(module, name) for module in (metaml, metaml_kb) for name in module.__all__
}
FUNCTIONS = {name: found for name, found in OFFERED.items() if inspect.isfunction(found)}
ANSWERS = {
    f"{answer.__module__}.{answer.__qualname__}": answer
    for function in FUNCTIONS.values()
    if inspect.isclass(answer := typing.get_type_hints(function)["return"]) and answer.__module__.startswith("metaml")
}
"""The classes of what the functions return: a user meets them, too."""
CLASSES = {name: found for name, found in {**OFFERED, **ANSWERS}.items() if inspect.isclass(found)}


def methods() -> Iterator[tuple[str, type, object]]:
    """Yield the public methods and properties of the public classes that are ours: name, class and function."""
    for name, owner in CLASSES.items():
        for member, found in inspect.getmembers_static(owner):
            function = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
            if inspect.isfunction(function) and function.__module__.startswith("metaml") and member[0] != "_":
                yield f"{name}.{member}", owner, function


METHODS = {name: (owner, function) for name, owner, function in methods()}
CALLABLE = {**FUNCTIONS, **CLASSES, **{name: function for name, (_, function) in METHODS.items()}}


def text_of(found: object) -> str:
    """Return the docstring of a name; that of a class with that of its constructor."""
    own = inspect.getdoc(found) or ""
    return f"{own}\n{inspect.getdoc(found.__init__)}" if inspect.isclass(found) else own


@pytest.mark.parametrize("name", CALLABLE)
def test_every_parameter_is_described(name):
    parameters = [word for word in inspect.signature(CALLABLE[name]).parameters if word not in ("self", "cls")]
    text = text_of(CALLABLE[name])

    described = set(re.findall(r"`(\w+)`", text))
    for words in re.findall(r"^([\w, ]+): ", text, re.MULTILINE):
        described.update(words.split(", "))

    assert [word for word in parameters if word not in described] == []


@pytest.mark.parametrize("name", [*FUNCTIONS, *METHODS])
def test_what_comes_back_is_described(name):
    function = CALLABLE[name]
    is_property = not inspect.signature(function).parameters.keys() - {"self"} and "." in name

    says = re.search(r"\b[Rr]eturn", text_of(function))

    assert says or is_property or typing.get_type_hints(function).get("return") is type(None)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_it_raises(name):
    assert "Raises" in text_of(FUNCTIONS[name])


@pytest.mark.parametrize("name", CALLABLE)
def test_there_is_an_example(name):
    owner, function = METHODS.get(name, (None, CALLABLE[name]))
    short = name.rpartition(".")[2]

    examples = re.findall(r"^ *(?:>>>|\.\.\.) .*", text_of(function), re.MULTILINE)
    if owner is not None and not examples:
        examples = [line for line in re.findall(r">>> .*|\.\.\. .*", text_of(owner)) if f".{short}" in line]

    assert examples
    assert not any("+SKIP" in example for example in examples)
