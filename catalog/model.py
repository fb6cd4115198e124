"""What a tool is (`docs/catalog.md` describes the file). Plain immutable values; reading files is `catalog.load`'s."""

from typing import Literal, NamedTuple

from catalog.fold import fold

ToolKind = Literal["mcp", "http", "standard"]
Effect = Literal["read", "write"]


class Category(NamedTuple):
    name: str
    title: str
    hints: tuple[str, ...]


class Operation(NamedTuple):
    """`schema`: canonical JSON of `input_schema`, "" where none is given. An absent effect has become `write`.

    `definition`: canonical JSON of what only a run needs to know: `output_schema`, `confirm`, `idempotency_argument`,
    `timeout_s`, `permission`, and for http `method`, `path`, `mapping`; absent ones are left out.
    """

    name: str
    category: str | None
    effect: Effect
    description: str
    schema: str
    text_argument: str | None
    definition: str = "{}"


class Tool(NamedTuple):
    """`operations` None: an added MCP server whose operations are unknown (T11). `grants`: what a category word of a
    standard tool allows, in the order of the file. `digest`: sha256 over all of it and over what a run needs to know.
    `definition`: canonical JSON of `source` and `server`, and `configured`, the server of that name in `mcp.json`; none
    holds a credential, and absent ones are left out."""

    name: str
    kind: ToolKind
    title: str
    hints: tuple[str, ...]
    categories: tuple[Category, ...]
    operations: tuple[Operation, ...] | None
    options: tuple[str, ...]
    grants: tuple[tuple[str, tuple[str, ...]], ...]
    digest: str
    definition: str = "{}"

    def __hash__(self) -> int:
        """As cheap as a word's, for what is kept of each tool."""
        return hash(self.digest)

    def category(self, folded: str) -> Category | None:
        """The category whose folded name (`catalog.fold.fold`) is `folded`."""
        for category in self.categories:
            if category.name == folded or fold(category.name) == folded:
                return category
        return None
