"""Fields that a GraphQL question goes along, loaded for all parents at once."""

from __future__ import annotations

from collections.abc import Iterable

from keyfold_web import related
from keyfold_systems.inviter.entities import Group, Hangout, Membership, Response
from keyfold_systems.inviter.operations.access import Part
from keyfold_systems.inviter.payloads import GroupCard, GroupName, HangoutCard, Person


class Relations(Part):
    """Hosts, guests and groups."""

    @related(Hangout, name="host")
    async def host_of_hangout(self, parents: list[Hangout]) -> list[Person | None]:
        """Who hosts it."""
        people = await self._people(one.host_id for one in parents)
        return [people.get(one.host_id) for one in parents]

    @related(Hangout, name="groups")
    async def groups_of_hangout(self, parents: list[Hangout]) -> list[list[GroupName]]:
        """The invited groups."""
        groups = await self._group_names(id for one in parents for id in one.group_ids)
        return [[groups[id] for id in sorted(one.group_ids) if id in groups] for one in parents]

    @related(Hangout, name="guests")
    async def guests_of_hangout(self, parents: list[Hangout]) -> list[list[Person]]:
        """Who is invited by name."""
        people = await self._people(id for one in parents for id in one.user_ids)
        return [
            [people[id] for id in sorted(one.user_ids - {one.host_id}) if id in people]
            for one in parents
        ]

    @related(HangoutCard, name="host")
    async def host_of_card(self, parents: list[HangoutCard]) -> list[Person | None]:
        """Who hosts it."""
        people = await self._people(one.host_id for one in parents)
        return [people.get(one.host_id) for one in parents]

    @related(HangoutCard, name="group")
    async def group_of_card(self, parents: list[HangoutCard]) -> list[GroupName | None]:
        """The group through which it is on the list, if any."""
        groups = await self._group_names(one.group_id for one in parents if one.group_id)
        return [groups.get(one.group_id or "") for one in parents]

    @related(Response, name="user")
    async def user_of_response(self, parents: list[Response]) -> list[Person | None]:
        """Who answered."""
        people = await self._people(one.user_id for one in parents)
        return [people.get(one.user_id) for one in parents]

    @related(Membership, name="user")
    async def user_of_membership(self, parents: list[Membership]) -> list[Person | None]:
        """Who is in the group."""
        people = await self._people(one.user_id for one in parents)
        return [people.get(one.user_id) for one in parents]

    @related(GroupCard, name="owner")
    async def owner_of_group(self, parents: list[GroupCard]) -> list[Person | None]:
        """Who owns it."""
        people = await self._people(one.owner_id for one in parents)
        return [people.get(one.owner_id) for one in parents]

    async def _people(self, ids: Iterable[str]) -> dict[str, Person]:
        names = await self.names_of(set(ids))
        return {id: Person(user_id=id, name=name) for id, name in names.items()}

    async def _group_names(self, ids: Iterable[str]) -> dict[str, GroupName]:
        found = await self.db.get_many([Group.key(group_id=one) for one in sorted(set(ids))])
        return {
            one.group_id: GroupName(group_id=one.group_id, name=one.name, members=one.members)
            for one in found
            if one
        }
