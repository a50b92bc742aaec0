"""After Amazon's developer guide, "Data modeling schemas": complaint management."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(4)
    made = Public(
        "complaint management",
        "Amazon DynamoDB developer guide, Data modeling schemas",
        table(
            "Complaint_management_system",
            "PK SK",
            "Customer_complaint_GSI customer_id complaint_id",
            "Escalations_GSI escalated_to escalation_time",
            "Agents_Comments_GSI agentID comm_date",
        ),
        {
            "complaint": Kind(
                ("Complaint", "Metadata", "ComplaintMetadata"),
                {
                    "PK": "{complaint_id}",
                    "SK": "metadata",
                    "customer_id": "{customer_id}",
                    "complaint_id": "{complaint_id}",
                    "escalated_to": "{escalated_to}",
                    "escalation_time": "{escalation_time}",
                },
            ),
            "communication": Kind(
                ("Comm", "Communication"),
                {
                    "PK": "{?}",
                    "SK": "comm#{comm_date}#{comm_id}",
                    "agentID": "{agentID}",
                    "comm_date": "{comm_date}",
                },
            ),
        },
    )
    for number in range(120):
        complaint = f"Complaint{1000 + number}"
        escalated = make.chance(0.3)
        made.add(
            "complaint",
            PK=complaint,
            SK="metadata",
            customer_id=f"custXYZ{make.number(50)}",
            complaint_id=complaint,
            severity=make.one_of("P1", "P2", "P3"),
            complaint_description=make.words(9),
            current_state=make.one_of("assigned", "open"),
            creation_time=make.iso(),
            escalated_to=f"Agent{make.one_of('A', 'B', 'C')}" if escalated else None,
            escalation_time=make.iso() if escalated else None,
        )
        for _ in range(make.number(5)):
            when, comm = make.iso(), f"comm{make.hex(6)}"
            made.add(
                "communication",
                PK=complaint,
                SK=f"comm#{when}#{comm}",
                comm_id=comm,
                comm_date=when,
                agentID=f"Agent{make.one_of('A', 'B', 'C')}",
                comm_text=make.words(12),
            )
    return made
