"""The cheapest cover of one graph: candidates are offered, bounded, priced as far as needed, and chosen by the integer
program.

Candidates enter the integer program with bounds that no kernel of them beats; those that the cheapest cover takes are
priced, until it holds none that is not, or until the best cover whose prices are known is near enough to the bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from napkin_eq.cover import workers
from napkin_eq.cover.bounds import bound_us
from napkin_eq.cover.candidates import Candidate, Enumeration
from napkin_eq.cover.graph import Graph, contractions, graph_of
from napkin_eq.cover.library import called, library_call, library_us
from napkin_eq.cover.pieces import Piece, Storage
from napkin_eq.cover.pricing import Pricing, Proved
from napkin_eq.cover.program import Chosen, Column, cheapest
from napkin_eq.egraph.budget import METER, Budget
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.dtypes import STORAGE
from napkin_eq.lang.errors import NapkinError, Undecided
from napkin_eq.lang.term import Term
from napkin_eq.machine.cost import elements, waited_us
from napkin_eq.search.job import Job
from napkin_eq.search.placement import MOST_BUNDLED
from napkin_eq.tile.ir import Library
from napkin_eq.tile.stream_facts import contracted

FAR, NEAR, ROUNDS, SOLVING, MOST_COLUMNS, LIKELY = 1.5, 0.03, 60, 3.0, 3000, 8
MANY = 4  # times the elements of the largest input or output, of which a value is stored only if the bounds say so
WORTH = 0.005  # of a cover's price, what a bundle must promise to save to be priced
PROVING = 0.4  # of time that ends, what is kept for the proofs of the kernels that are chosen
PROMISING = 0.6  # of the time there is, after which no more is priced because it is promising
PRICED = 0.75  # of the time there is, after which a cover that is found is proved as it is
GRACE = 2.0  # times the time there is, after which the kernels that a graph must have are sought no more, nor proved
ROOM = 0.15  # of the time there is, after which a cover is sought whether there is room for it or not
GUESSED = 0.5  # of what others exceed their bounds by, what a kernel whose price is not known is taken to at the least
SHORT = 8  # launches, in whose time a cover is so short that what all in one takes tells what its parts do
FEW = 12  # prices, after which it is left open whether a cover may be as cheap as one has to be
AGAIN, UNTIL = 4, 0.4  # searches that time ended are made again, so many at once, until this part of the time is over
UNKNOWN = 1.0  # times its bound, by how much a candidate that was not priced in time is taken to exceed it
# Of the time of a launch: what moving an array may take that is kept in float32 at that price
SLIGHT = 0.02
SAME = 1e-3  # by so much more a cover may take under other names of axes
SLACK = 1.3  # times the bounds of its values one by one that a candidate's bound may be


@dataclass(slots=True)
class Offer:
    """A candidate in the program: its piece, and a bound of its price until that is known; the call of a library that
    is to do it, if one is.
    """

    candidate: Candidate
    piece: Piece
    bound: float
    price: float | None = None
    call: Library | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """The microseconds that a cover must stay under for anyone to take it: none is sought where a few prices show that
    there is hardly one; searched: all in one kernel was searched for, and takes no less.
    """

    us: float = math.inf
    searched: bool = False


NO_LIMIT = Limit()


@dataclass(frozen=True, slots=True)
class Found:
    """A cover that was found of the same graph with other names of bound axes: its candidates, what each value may be
    now, its price, and the bound that was proved.
    """

    cover: Sequence[Candidate]
    named: Mapping[Term, Iterable[Term]]
    price: float
    bound: float


def _contracted(offer: Offer) -> tuple[tuple[Term, ...], frozenset[Term]]:
    """Return what an offer stores, and the contractions that it computes."""
    return offer.candidate.outs, frozenset(t for t in offer.candidate.terms if contracted(t) is not None)


def _over(
    offer: Offer,
    known: Mapping[Any, Sequence[tuple[frozenset[Term], float]]],
    failed: Mapping[Any, Sequence[frozenset[Term]]],
) -> float:
    """Return by how much an offer's price is taken to exceed its bound: as much as that of the one whose price is known
    which computes the same contractions, and for itself most nearly the same.
    """
    key, inside = _contracted(offer), offer.candidate.inside
    if key in known:
        return min(known[key], key=lambda other: (len(other[0] ^ inside), -other[1]))[1]
    # What one was not priced for in time, another that computes less for itself may well be.
    return UNKNOWN * offer.bound if any(inside <= offer.candidate.inside for inside in failed.get(key, ())) else 0.0


class Choice:
    """The search for a cover of one diagram, priced by a pool.

    joining: kernels that compute several values are offered. limit: what a cover must stay under.
    """

    def __init__(
        self,
        job: Job,
        orders: Sequence[tuple[Axis, ...]],
        pool: workers.Pool,
        joining: bool = True,
        limit: Limit = NO_LIMIT,
    ) -> None:
        self.joining, self.pool, self.limit = joining, pool, limit
        diagram, aim, proved = job.diagram, job.aim, job.laws.proved
        self.diagram, self.aim = diagram, aim
        self.budget: Budget = aim.budget
        self.own = Budget(self.budget.seconds)  # begins now, whatever the derivation has spent before
        outputs = [term for _, term in diagram.outputs]
        self.graph: Graph = graph_of(outputs, proved)
        self.places = {value: i for i, value in enumerate(self.graph.cuts)}
        self.storage = Storage(
            self.graph,
            {term: name for name, term in diagram.outputs},
            aim.dtype,
            proved,
            aim.held,
            dict(zip(outputs, orders, strict=True)),
            SLIGHT * aim.machine.chip.launch_s * aim.machine.hbm.copy_bandwidth,
        )
        self.pricing, self.plain = (
            Pricing(a, job.laws, pool, self._left) for a in (aim, replace(aim, printer="triton"))
        )
        self.waited = waited_us(aim.machine)  # of every launch but the first
        self.bound = 0.0
        self.listed = Enumeration(self.graph)
        self.offers = self._offers()
        self.called = self._called()

    def _offers(self) -> list[Offer]:
        """Return the candidates of one output, without those that their values one by one are sure to beat."""
        found = [self._offer(c) for cut in self.graph.cuts for c in self.listed.single[cut]]
        alone = {o.candidate.outs[0]: o.bound for o in found if not o.candidate.inside}
        kept = [
            o
            for o in found
            if o.bound <= SLACK * sum(alone.get(v, math.inf) for v in (*o.candidate.outs, *o.candidate.inside))
        ]
        return sorted(kept, key=lambda o: (len(o.candidate.inside), o.bound))[:MOST_COLUMNS]

    def _called(self) -> list[Offer]:
        """Return the candidates that a library has a call for, at its price."""
        found: list[Offer] = []
        for offer in self.offers:
            if (call := library_call(offer.piece, self.aim.dtype)) is not None:
                price = library_us(call, self.aim.dtype, self.aim.machine)
                found.append(Offer(offer.candidate, offer.piece, price, price, call))
        return found

    def _bundles(self, cover: Sequence[Offer]) -> list[Offer]:
        """Return candidates that do in one kernel what two of a cover do, where that may be cheaper."""
        made = {o.candidate.outs: o for o in cover}
        found = [self._offer(c) for c in self.listed.bundles([o.candidate for o in cover], self._launches_count(cover))]
        least = WORTH * sum(o.price or 0.0 for o in cover)
        known = {o.piece.source for o in self.offers}

        def apart(offer: Offer) -> float:
            outs = {*offer.candidate.outs}
            return sum(o.price or 0.0 for outputs, o in made.items() if outs.issuperset(outputs)) - self.waited

        return [o for o in found if o.piece.source not in known and o.bound + least < apart(o)]

    def _beside(self, cover: Sequence[Offer]) -> list[Offer]:
        """Return candidates that store, beside their own, what they compute for themselves and others of a cover store,
        and that are in the cheapest cover if they exceed their bounds by as much as they do without.

        Of the ways to each value the cheapest, and the one that reads least.
        """
        known = [o for o in self.offers if o.price is not None and o.price < math.inf]
        stored, sources = {value for o in cover for value in o.candidate.outs}, {o.piece.source for o in self.offers}
        ways: dict[tuple[Term, Term], list[Offer]] = {}
        for offer in (o for o in known if o.call is None and len(o.candidate.outs) == 1):
            for value in offer.candidate.inside & stored:
                ways.setdefault((offer.candidate.outs[0], value), []).append(offer)
        guessed: dict[int, tuple[Offer, Offer]] = {}
        for out, value in sorted(ways, key=lambda way: tuple(map(self.places.__getitem__, way))):
            mine = ways[out, value]
            ends = min(mine, key=self.cost), min(mine, key=lambda o: (len(o.candidate.reads), self.cost(o)))
            for offer in {id(o): o for o in ends}.values():
                made = self.listed.beside(offer.candidate, value)
                if made is None or (fresh := self._offer(made)).piece.source in sources:
                    continue
                sources.add(fresh.piece.source)
                guess = replace(fresh, price=fresh.bound + (offer.price or 0.0) - offer.bound)
                guessed[id(guess)] = guess, fresh
        found = self._solved([*known, *(guess for guess, _ in guessed.values())]) if guessed else None
        if found is None or found[0].price > (1 - WORTH) * sum(map(self.cost, cover)):
            return []
        return [guessed[id(o)][1] for o in found[1] if id(o) in guessed]

    def _offer(self, candidate: Candidate) -> Offer:
        piece = self.storage.piece(candidate)
        return Offer(candidate, piece, bound_us(piece, STORAGE[self.aim.dtype], self.aim.dtype, self.aim.machine))

    def _solved(self, offers: Sequence[Offer]) -> tuple[Chosen, list[Offer]] | None:
        """Return the cheapest cover by some offers, at their prices or bounds."""
        open_ = [o for o in offers if o.price is None or o.price < math.inf]
        columns = [self.column(o) for o in open_]
        chosen = cheapest(columns, [self.places[v] for v in self.graph.outputs], SOLVING)
        return None if chosen is None else (chosen, [open_[i] for i in chosen.places])

    def column(self, offer: Offer) -> Column:
        at, candidate = self.places, offer.candidate
        outs, reads, inside = (
            tuple(at[v] for v in values) for values in (candidate.outs, candidate.reads, candidate.inside)
        )
        return Column(outs, reads, inside, self.cost(offer))

    def _left(self, proof: bool) -> float:
        """Return the seconds after which no search for a kernel is begun, or no proof of one."""
        budget = self.budget
        if not budget.hard:
            return math.inf if self._spent() < GRACE * budget.seconds else 0.0
        left = min(budget.left(), budget.seconds - self._spent())
        return left if proof else left - PROVING * budget.seconds

    def _over(self, share: float = 1.0) -> bool:
        ended = self._spent() > share * self.budget.seconds or self._left(False) <= 0
        if ended and "covering" not in self.budget.clock.stopped:
            self.budget.clock.stopped.append("covering")
        return ended or self.budget.over("covering")

    def _spent(self) -> float:
        return self.own.spent()

    def _priced(self) -> tuple[Chosen, list[Offer]]:
        """Return the cheapest cover whose prices are all known, or near to that; bundles of its kernels are offered as
        long as they may save something.

        Kernels that store or read something large are offered only where there is no cover without, or one that is far
        from what its kernels take at the least, and from what a cover with such kernels does.
        """
        if self.aim.library:
            self.offers += [
                o for o in self.called if o.price != math.inf and all(o is not other for other in self.offers)
            ]
        self._require_below()
        every, thrifty = self.offers, self._thrifty()
        if len(thrifty) == len(every) or self._solved(thrifty) is None:
            return self._best()
        self.offers = thrifty
        best = self._best()
        if self._over() or best[0].price <= FAR * sum(o.bound for o in best[1]):
            return best
        large = [o for o in every if all(o is not other for other in thrifty)]
        with_large = self._solved([*self.offers, *large])
        if with_large is None or FAR * with_large[0].price > best[0].price:
            return best
        self.offers = [*self.offers, *large]
        return self._best()

    def _require_below(self) -> None:
        """Raise NapkinError if a few prices show that hardly any cover stays under what it has to.

        As long as the cheapest one by bounds does, or where launches count by guesses, one of its kernels is priced, of
        few contractions first.
        """
        below = self.limit.us
        if below == math.inf:
            return
        short = below <= SHORT * self.aim.machine.chip.launch_s * 1e6
        for offer in self.offers:
            if self.limit.searched and offer.price is None and self._alone(offer):
                offer.price = below
        for _ in range(FEW):
            if self._spent() > ROOM * self.budget.seconds:
                return
            # Of long ones the prices of some tell little of others: these may be several kernels
            found = self._least_with_joined(GUESSED if short else 0.0)
            if found is None or self._over():
                return
            price, cover = found
            if price + self.waited >= below:
                raise NapkinError(f"diagram {self.diagram.name}: no cover takes less than {below:.1f} us")
            waiting = [o for o in cover if o.price is None]
            if not waiting:
                return
            self.offers += [o for o in waiting if all(o is not other for other in self.offers)]
            self._price([min(waiting, key=lambda o: (contractions(o.candidate.terms), len(o.candidate.terms)))])

    def _alone(self, offer: Offer) -> bool:
        """Tell whether one kernel computes all from what is given."""
        return {*self.graph.outputs} <= {*offer.candidate.outs} and not offer.candidate.reads

    def _least_with_joined(self, share: float) -> tuple[float, list[Offer]] | None:
        """Return the price of the cheapest cover, and its kernels, as offers are guessed at a share of what others
        exceed their bounds by; of the kernels of such a cover, and of those that compute least, two may be one, which
        is offered, too.
        """
        offers, best = list(self.offers), None
        while True:
            guessed, places = self._guessed([o for o in offers if o.price is None], share)
            found = self._solved([*(o for o in offers if o.price is not None), *guessed])
            if found is None or (best is not None and found[0].price >= best[0]):
                return best
            best = found[0].price, [places.get(id(o), o) for o in found[1]]
            known = {o.piece.source for o in offers}
            apart = {id(o.candidate): o.candidate for o in (*found[1], *self._basic())}
            made = map(self._offer, self.listed.bundles([*apart.values()], True)) if self.joining else ()
            fresh = [o for o in made if o.piece.source not in known and not (self.limit.searched and self._alone(o))]
            if not fresh:
                return best
            offers += fresh

    def _guessed(self, waiting: Sequence[Offer], share: float = 1.0) -> tuple[list[Offer], dict[int, Offer]]:
        """Return offers at prices that exceed their bounds by a share of what others of the same contractions do, and
        which each is of.
        """
        near: dict[Any, list[tuple[frozenset[Term], float]]] = {}
        failed: dict[Any, list[frozenset[Term]]] = {}
        for offer in self.offers:
            if offer.price is not None and offer.call is None:
                key = _contracted(offer)
                if offer.price < math.inf:
                    near.setdefault(key, []).append((offer.candidate.inside, offer.price - offer.bound))
                else:
                    failed.setdefault(key, []).append(offer.candidate.inside)
        guessed = [
            Offer(o.candidate, o.piece, o.bound, o.bound + share * _over(o, near, failed)) for o in waiting
        ]
        return guessed, {id(guess): offer for guess, offer in zip(guessed, waiting, strict=True)}

    def _best(self) -> tuple[Chosen, list[Offer]]:
        """Return the cheapest cover by what is offered, and by what that makes worth offering."""
        self._price(self._least())
        # What two kernels read of one large array is read once, before the many ways to have more inside are told apart
        known = self._solved([o for o in self.offers if o.price is not None])
        if known is not None and self.joining:
            fresh = [o for o in self._bundles(known[1]) if not contractions(o.candidate.terms)]
            self.offers += fresh
            self._price(fresh)
        self._price(self._basic())
        self._promising_of(0)  # what has no contraction is priced soon
        # Of two contractions those that promise most, before the many ways to have less inside one are told apart
        for most in (1, 2):
            self._promising_of(most, 1)
        self._promising_of(1)
        known = self._solved([o for o in self.offers if o.price is not None])
        if known is not None and self._launches_count(known[1]):
            self._join(known[1], False)  # before the search for a bound, which may take all the time there is
        self._promising()
        best = self._search()
        joins = MOST_BUNDLED - 1  # each joins what the last has joined
        while True:
            if joins and not self._over() and self._join(best[1], True):
                joins -= 1
            elif self._longer(best[0].price):
                joins = max(1, joins)
            else:
                return best
            self._promising()
            best = self._search()

    def _longer(self, price: float) -> bool:
        """Search longer for kernels that take longer than what does the same one after the other, or walk an axis more
        than once, where time ended their search: those first that would save the most in a cover of a price if they
        took what they must at the least. Tell whether any takes less than was found before.
        """
        if self._spent() > UNTIL * self.budget.seconds or self._left(False) <= 0:
            return False
        known = [o for o in self.offers if o.price is not None]
        # What could not be proved, or takes longer as proved, has another price, which stays.
        ours = [o for o in known if o.call is None and o.price == self.pricing.known(o.piece)]
        ended = [o for o in ours if self.pricing.ended(o.piece)]
        gains = self.gains(ended, known)
        worse = [o for o, gain in gains if gain < -WORTH * price or self.pricing.walks_again(o.piece)]
        guesses = [Offer(o.candidate, o.piece, o.bound) for o in worse]
        chosen = [guess.piece for guess, gain in self.gains(guesses, known) if gain > WORTH * price][:AGAIN]
        before = [offer.price for offer in ended]
        self.pricing.search_longer(chosen)
        for offer in ended:
            offer.price = self.pricing.known(offer.piece)
        return before != [offer.price for offer in ended]

    def _join(self, cover: Sequence[Offer], beside: bool) -> bool:
        """Offer and price what does in one kernel what two of a cover do; `beside`: also what does what one does and
        part of what another does. Tell whether there is any.
        """
        if not self.joining:
            return False
        fresh = self._bundles(cover)
        self.offers += fresh
        others = self._beside(cover) if beside else []
        self.offers += others
        if fresh or others:
            self._price([*fresh, *others])
        return bool(fresh or others)

    def _launches_count(self, cover: Sequence[Offer]) -> bool:
        """Tell whether a cover is so short that a kernel less is worth pricing."""
        machine = self.aim.machine
        launch = machine.chip.launch_s * 1e6 - self.waited  # what one kernel less saves at the least
        return launch > WORTH * sum(o.price or 0.0 for o in cover)

    def _promising(self) -> None:
        """Price what would be cheapest if offers exceeded their bounds by as much as others of the same contractions
        do.

        A bound may be far below the price of all kernels of some contractions, of which there are many: one price tells
        of the others. Kernels of few contractions come first: they are priced soon, and what they are short of shows
        where more in one may pay.
        """
        counts = [contractions(o.candidate.terms) for o in self.offers if o.price is None]
        for most in sorted({max(1, count) for count in counts}):
            self._promising_of(most)

    def _promising_of(self, most: int, rounds: int = ROUNDS) -> None:
        for _ in range(rounds):
            known = [o for o in self.offers if o.price is not None]
            waiting = [o for o in self.offers if o.price is None and contractions(o.candidate.terms) <= most]
            guessed, places = self._guessed(waiting)
            found = self._solved(
                self._undominated([*known, *(g for g, gain in self.gains(guessed, known) if gain > 0)])
            )
            fresh = [places[id(o)] for o in found[1] if id(o) in places] if found else []
            late = self._spent() > PROMISING * self.budget.seconds
            if not fresh or self._over() or (late and (most > 1 or self._solved(known) is not None)):
                return
            self._price(fresh)

    def _undominated(self, offers: Sequence[Offer]) -> list[Offer]:
        """Leave out offers of the same values of which others read no more and cost no more; that those may compute
        more for themselves is let pass.
        """
        kept: dict[tuple[Term, ...], list[tuple[frozenset[Term], Offer]]] = {}
        for offer in sorted(offers, key=lambda o: (self.cost(o), len(o.candidate.reads))):
            mine, reads = kept.setdefault(offer.candidate.outs, []), frozenset(offer.candidate.reads)
            if not any(others <= reads for others, _ in mine):
                mine.append((reads, offer))
        return [offer for mine in kept.values() for _, offer in mine]

    def _search(self) -> tuple[Chosen, list[Offer]]:
        """Price what the cheapest cover takes, until all of it is priced, or until the best so far is near enough to
        the bound or time is over.
        """
        best: tuple[Chosen, list[Offer]] | None = None
        many = LIKELY
        for _ in range(ROUNDS):
            begun = METER.counted
            known = [o for o in self.offers if o.price is not None]
            gains = self.gains([o for o in self.offers if o.price is None], known)
            least = self._solved([*known, *(o for o, gain in gains if gain > 0)])
            if least is None:
                raise NapkinError(
                    f"diagram {self.diagram.name}: no kernels that fit compute"
                    f" {', '.join(n for n, _ in self.diagram.outputs)}"
                )
            self.bound = least[0].bound
            fresh = [o for o in least[1] if o.price is None]
            covers = [best, self._solved(known), None if fresh else least]
            best = min((c for c in covers if c is not None), key=lambda c: c[0].price, default=None)
            priced = sum(o.price is not None for o in self.offers)
            reached = {} if best is None else {"best_us": best[0].price}
            self.budget.clock.note(
                "covering", candidates=len(self.offers), priced=priced, bound_us=self.bound, **reached
            )
            if best is not None and (best[0].price <= (1 + NEAR) * self.bound or self._over(PRICED)):
                return best
            likely: dict[tuple[tuple[Term, ...], int], Offer] = {}
            for offer, gain in gains:  # of each value, and each number of contractions, the one that may save the most
                if best is None or gain > WORTH * best[0].price:
                    likely.setdefault((offer.candidate.outs, contractions(offer.candidate.terms)), offer)
            # A cover that was found in time is priced; of one that may be far from the cheapest, what is likely in its
            # place.
            if least[0].price > (1 + NEAR) * least[0].bound:
                # Small ones are priced soon
                fresh = [likely[key] for key in sorted(likely, key=lambda key: key[1])][:many] or fresh
            if best is not None and not fresh:
                return best
            if self._left(False) <= 0:
                break
            solved = METER.counted
            self._price(fresh)
            # Where prices take less than the programs between them, more are asked for at once
            many = 2 * many if METER.counted - solved < solved - begun else LIKELY
        if best is None:
            raise NapkinError(f"diagram {self.diagram.name}: no cover was found within the limits")
        return best

    def _least(self) -> list[Offer]:
        """Return of each value without contractions the offer that computes least for itself."""
        ways = ([o for o in self.offers if o.candidate.outs == (value,)] for value in self.graph.cuts)
        least = (min(mine, key=lambda o: (len(o.candidate.inside), o.bound)) for mine in ways if mine)
        return [o for o in least if not contractions(o.candidate.terms)]

    def _basic(self) -> list[Offer]:
        """Return the offers to price first: of each value the one that computes least for itself; of one without
        contractions also that which reads least; and of each contraction the one that stores nothing of it but what all
        that reads it leads to.
        """
        found: dict[int, Offer] = {}
        for value in self.graph.cuts:
            mine = [o for o in self.offers if o.candidate.outs == (value,)]
            least = min((contractions(o.candidate.terms) for o in mine), default=0)
            ways = [lambda o: (len(o.candidate.inside), o.bound)] + [lambda o: (o.bound, len(o.candidate.reads))] * (
                not least
            )
            for way in ways:
                if mine:
                    offer = min((o for o in mine if contractions(o.candidate.terms) == least), key=way)
                    found.setdefault(id(offer), offer)
        for value in self.graph.cuts:
            end = self.graph.meeting(value) if contracted(value) is not None else None
            kept = [
                o
                for o in self.offers
                if o.candidate.outs == (end,)
                and contractions(o.candidate.terms) == 1
                and value in o.candidate.inside
                and not any(value in self.listed.below[read] for read in o.candidate.reads)
            ]
            if kept:
                offer = min(kept, key=lambda o: (o.bound, len(o.candidate.reads)))
                found.setdefault(id(offer), offer)
        return list(found.values())

    def _by_library(self, piece: Piece, call: Library, price: float) -> tuple[Proved | None, str]:
        """Return a piece as derived without groups of warps that share its work, the library's call in its kernel's
        place.
        """
        ((plain, why),) = self.plain.prove([piece])
        if plain is None or len(plain.placed.tiled) != 1:
            return None, why or "it is several kernels, and the library's product is one"
        return called(plain, call, price), ""

    def gains(self, offers: Sequence[Offer], known: Sequence[Offer]) -> list[tuple[Offer, float]]:
        """Return offers with what each saves at most beside kernels of known prices that do the same one after the
        other, the most first.
        """
        makers: dict[Term, list[Offer]] = {}
        for offer in known:
            for value in offer.candidate.outs:
                makers.setdefault(value, []).append(offer)

        def gain(offer: Offer) -> float:
            costs = dict.fromkeys(offer.candidate.reads, 0.0)
            for value in self.graph.cuts:
                if value not in costs and value in makers:
                    costs[value] = min(
                        self.cost(o) + sum(costs.get(r, math.inf) for r in o.candidate.reads) for o in makers[value]
                    )
            return sum(costs.get(value, math.inf) for value in offer.candidate.outs) - self.cost(offer)

        return sorted(((o, gain(o)) for o in offers), key=lambda found: (-found[1], len(found[0].candidate.terms)))

    def cost(self, offer: Offer) -> float:
        """Return what an offer adds to a cover: its price, or the bound of it, less what of its launch is hidden behind
        the kernel before.
        """
        return max(0.0, (offer.bound if offer.price is None else offer.price) - self.waited)

    def _thrifty(self) -> list[Offer]:
        """Return the offers that neither store nor read a value many times as large as every input and output."""
        largest = max(elements(t.axes) for t in (*self.diagram.inputs(), *self.graph.outputs))
        large = {v for v in self.graph.cuts if elements(v.axes) > MANY * largest}
        return [o for o in self.offers if large.isdisjoint(o.candidate.outs) and large.isdisjoint(o.candidate.reads)]

    def _price(self, fresh: Sequence[Offer]) -> None:
        self.pricing.price(o.piece for o in fresh)
        for offer in self.offers:
            if offer.price is None:
                offer.price = self.pricing.known(offer.piece)

    def _again(self, found: Found) -> tuple[Chosen, list[Offer]] | None:
        """Return the cover that was found under other names, None where it is none here or takes longer."""
        made = [c for old in found.cover for c in self.listed.under(old, found.named)]
        offers = [self._offer(c) for c in made]
        known = {o.piece.source for o in offers}
        others = [o for o in self.offers if o.piece.source not in known]
        self.offers = [*offers, *others]
        self._price(offers)
        cover = self._solved(offers)
        if cover is None or cover[0].price > (1 + SAME) * found.price:
            return None
        self.bound = found.bound
        return cover

    def derived(self, found: Found | None = None) -> tuple[Chosen, list[tuple[Piece, Proved]]]:
        """Return a cover all of whose kernels are derived, each with its chain; one that is not is left out, and the
        next best taken.

        found: the cover to take, where its kernels take no longer under the names of this graph.
        """
        why = ""
        for number in range(ROUNDS):
            try:
                cover = self._again(found) if found is not None and number == 0 else None
                chosen, offers = cover or self._priced()
            except NapkinError:
                if why:
                    raise Undecided(f"diagram {self.diagram.name}: {why}") from None
                raise
            alone = offers[0] if self.limit.searched and self._alone(offers[0]) else None
            if alone is not None and alone.call is None and self.pricing.known(alone.piece) is None:
                # Who asked has that kernel, or a search found no chain to it: it is not sought once more
                alone.price, why = math.inf, f"no cover takes less than {self.limit.us:.1f} us"
                continue
            spare = self._spent() < self.budget.seconds
            ours = iter(self.pricing.prove((o.piece for o in offers if o.call is None), spare))
            made = [next(ours) if o.call is None else self._by_library(o.piece, o.call, o.bound) for o in offers]
            bad = False
            for offer, (proved, reason) in zip(offers, made, strict=True):
                if proved is None:
                    offer.price, bad, why = math.inf, True, reason
                elif proved.placed.predicted_us > (1 + 1e-6) * (offer.price or 0.0):
                    offer.price, bad = proved.placed.predicted_us, True
            if not bad:
                return chosen, [
                    (o.piece, proved) for o, (proved, _) in zip(offers, made, strict=True) if proved is not None
                ]
            if self._left(True) <= 0:
                break
        raise Undecided(f"diagram {self.diagram.name}: {why}")
