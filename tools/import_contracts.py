"""Two kinds of contract for import-linter, which check direct imports.

A core may import cores and pure libraries only. So whatever a core reaches over any number of
steps is pure as well, and looking at direct imports is enough. The same holds for `Only`.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


def imports_of(graph: ImportGraph, modules: set[str]) -> list[tuple[str, str]]:
    """Return all (importer, imported) pairs whose importer is one of `modules`, sorted."""
    return sorted(
        (importer, imported)
        for importer in modules
        for imported in graph.find_modules_directly_imported_by(importer)
    )


def within(module: str, package: str) -> bool:
    """Say whether `module` is `package` or lies in it."""
    return module == package or module.startswith(package + ".")


class ListedContract(Contract):
    """A contract that is broken by a list of imports, each with a sentence that says why."""

    def broken_by(self, graph: ImportGraph) -> list[tuple[str, str, str]]:
        """Return importer, imported, and why that is not allowed."""
        raise NotImplementedError

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Check the whole graph."""
        broken = self.broken_by(graph)
        return ContractCheck(kept=not broken, metadata={"graph": graph, "broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print each import with its file line."""
        graph: ImportGraph = check.metadata["graph"]
        for importer, imported, why in check.metadata["broken"]:
            output.print_error(f"{importer} imports {imported}: {why}")
            for detail in graph.get_import_details(importer=importer, imported=imported):
                output.print_error(f"    line {detail['line_number']}: {detail['line_contents']}")


class PureCores(ListedContract):
    """Every module that is not a shell imports cores and pure libraries only.

    Fields:
        shells: patterns of modules; what lies in a module that matches is a shell, too.
        pure: names of outside packages that a core may import.
    """

    type_name = "pure_cores"
    shells = fields.ListField(subfield=fields.StringField())
    pure = fields.SetField(subfield=fields.StringField())

    def is_shell(self, module: str) -> bool:
        """Say whether `module` is, or lies in, a shell."""
        return any(
            fnmatchcase(module, pattern) or fnmatchcase(module, pattern + ".*")
            for pattern in self.shells
        )

    def broken_by(self, graph: ImportGraph) -> list[tuple[str, str, str]]:
        """Return the imports that would let something impure into a core."""
        ours = {module for module in graph.modules if not graph.is_module_squashed(module)}
        cores = {module for module in ours if not self.is_shell(module)}
        broken = []
        for importer, imported in imports_of(graph, cores):
            if imported in ours and self.is_shell(imported):
                broken.append((importer, imported, "a core never imports a shell"))
            elif imported not in ours and imported.partition(".")[0] not in self.pure:
                broken.append((importer, imported, "not pure, or not named as pure"))
        return broken


class Only(ListedContract):
    """The modules of one package import, of ours, nothing but themselves and what is listed.

    Fields:
        source: the package or module.
        may_import: packages or modules of ours.
    """

    type_name = "only"
    source = fields.StringField()
    may_import = fields.ListField(subfield=fields.StringField(), required=False)

    def broken_by(self, graph: ImportGraph) -> list[tuple[str, str, str]]:
        """Return the imports of ours that are not listed."""
        ours = {module for module in graph.modules if not graph.is_module_squashed(module)}
        inside = {module for module in ours if within(module, str(self.source))}
        allowed = [str(self.source), *self.may_import]
        return [
            (importer, imported, f"{self.source} may not know it")
            for importer, imported in imports_of(graph, inside)
            if imported in ours and not any(within(imported, package) for package in allowed)
        ]
