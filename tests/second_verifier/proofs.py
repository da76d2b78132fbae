"""The exact proof on requirements of docs/format/scenario_law.md, node visits counted as that page counts them."""

BUDGET = 2**20


class _Exceeded(Exception):
    pass


# A formula is ("literal", variable, sign) or ("least", minimum, operands).


def _literal(variable, sign):
    return ("literal", variable, sign)


def _threshold(minimum, operands):
    """The simplest form of "at least minimum of these operands"."""
    if len(operands) == 1:
        return operands[0]
    flat = []
    for operand in operands:
        count = len(operand[2]) if operand[0] == "least" else 0
        same_all = minimum == len(operands) and count and operand[1] == count
        same_one = minimum == 1 and count and operand[1] == 1
        flat.extend(operand[2] if same_all or same_one else [operand])
    return ("least", len(flat) if minimum == len(operands) else minimum, flat)


def formula_of(requirement, sign=True):
    """A requirement, or its negation, as a formula."""
    ((form, inner),) = requirement.items()
    if form == "Condition":
        return _literal(inner, sign)
    if form == "Not":
        return formula_of(inner, not sign)
    operands = inner["reqs"] if form == "RequireGroup" else inner
    minimum = {"And": len(operands), "Or": 1}.get(form) or inner["min"]
    if not sign:
        minimum = len(operands) - minimum + 1
    return _threshold(minimum, [formula_of(operand, sign) for operand in operands])


class _Proof:
    def __init__(self, budget):
        self.budget, self.visits = budget, 0

    def visit(self):
        if self.visits >= self.budget:
            raise _Exceeded
        self.visits += 1

    def satisfiable(self, formula):
        self.visit()
        if formula[0] == "literal":
            return True
        _, minimum, operands = formula
        if minimum == 1:
            return any(self.satisfiable(operand) for operand in operands)
        survey = self.survey(operands)
        if not survey.both:
            return True
        groups = survey.groups()
        if len(groups) == len(operands):
            return self.enough(minimum, operands)
        if minimum < len(operands):
            return self.split(formula, survey)
        for group in groups:
            if len(group) == 1:
                holds = self.satisfiable(operands[group[0]])
            else:
                part = [operands[index] for index in group]
                holds = self.split(("least", len(part), part), self.survey(part))
            if not holds:
                return False
        return True

    def enough(self, minimum, operands):
        yes = 0
        for index, operand in enumerate(operands):
            if yes + len(operands) - index < minimum:
                return False
            yes += self.satisfiable(operand)
            if yes == minimum:
                return True
        return False

    def survey(self, operands):
        survey = _Survey(operands)
        for index, operand in enumerate(operands):
            self.note(operand, index, survey)
        return survey

    def note(self, formula, index, survey):
        self.visit()
        if formula[0] == "literal":
            survey.note(formula, index)
            return
        for operand in formula[2]:
            self.note(operand, index, survey)

    def split(self, formula, survey):
        variable, sign = survey.choose(formula)
        for assumed in (sign, not sign):
            rest = self.assume(formula, variable, assumed)
            if rest is True or rest is not False and self.satisfiable(rest):
                return True
        return False

    def assume(self, formula, variable, sign):
        self.visit()
        if formula[0] == "literal":
            return formula if formula[1] != variable else formula[2] == sign
        _, minimum, operands = formula
        left, changed = [], False
        for operand in operands:
            rest = self.assume(operand, variable, sign)
            changed = changed or rest is not operand
            if rest is True:
                minimum -= 1
            elif rest is not False:
                left.append(rest)
        if minimum <= 0:
            return True
        if len(left) < minimum:
            return False
        return _threshold(minimum, left) if changed else formula


class _Survey:
    """The variables below some operands: their signs, and the operands that hold them."""

    def __init__(self, operands):
        self.operands, self.found = operands, {}

    def note(self, literal, index):
        entry = self.found.setdefault(literal[1], {True: 0, False: 0, "operands": []})
        entry[literal[2]] += 1
        if index not in entry["operands"][-1:]:
            entry["operands"].append(index)

    @property
    def both(self):
        return {name: entry for name, entry in self.found.items() if entry[True] and entry[False]}

    def groups(self):
        parent = list(range(len(self.operands)))

        def root(index):
            while parent[index] != index:
                index = parent[index]
            return index

        for entry in self.both.values():
            for index in entry["operands"][1:]:
                a, b = sorted((root(entry["operands"][0]), root(index)))
                parent[b] = a
        groups = {}
        for index in range(len(parent)):
            groups.setdefault(root(index), []).append(index)
        return list(groups.values())

    def choose(self, formula):
        both = self.both
        if formula[1] == len(formula[2]):
            for operand in formula[2]:
                if operand[0] == "literal" and operand[1] in both:
                    return operand[1], operand[2]
        # max() keeps the first of equals, which is the one that occurs first.
        name = max(both, key=lambda name: (len(both[name]["operands"]), both[name][True] + both[name][False]))
        return name, both[name][True] >= both[name][False]


def prove(requirement, budget=BUDGET):
    """Whether a requirement varies: the verdict, and the number of visits."""
    proof = _Proof(budget)
    try:
        if not proof.satisfiable(formula_of(requirement)):
            return "contradiction", proof.visits
        if not proof.satisfiable(formula_of(requirement, False)):
            return "tautology", proof.visits
    except _Exceeded:
        return "budget_exceeded", proof.visits
    return "varies", proof.visits


def prove_law(stages, budget=BUDGET):
    """None where the requirements of all stages vary, within one budget; else the first other id and its verdict."""
    for stage in sorted(stages, key=lambda stage: stage["stage_id"]):
        verdict, visits = prove(stage["completion_requirement"], budget)
        if verdict != "varies":
            return stage["stage_id"], verdict
        budget -= visits
    return None
