"""After ElectroDB's documentation: the task application, with the keys that ElectroDB writes."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(12)
    made = Public(
        "task application",
        "ElectroDB's documentation",
        table(
            "electro",
            "pk sk",
            "gsi1pk-gsi1sk-index gsi1pk gsi1sk",
            "gsi2pk-gsi2sk-index gsi2pk gsi2sk",
        ),
        {
            "employee": Kind(
                ("Employee",),
                {
                    "pk": "$taskapp#employeeid_{employeeId:lower}",
                    "sk": "$employee_1",
                    "gsi1pk": "$taskapp#office_{office:lower}",
                    "gsi1sk": "$workplaces#employee_1#team_{team:lower}#title_{title:lower}"
                    "#employeeid_{employeeId:lower}",
                    "gsi2pk": "$taskapp#team_{team:lower}",
                    "gsi2sk": "$employee_1#employeeid_{employeeId:lower}",
                },
            ),
            "office": Kind(
                ("Office",),
                {
                    "pk": "$taskapp#country_{country:lower}#state_{state:lower}",
                    "sk": "$office_1#city_{city:lower}#office_{office:lower}",
                    "gsi1pk": "$taskapp#office_{office:lower}",
                    "gsi1sk": "$workplaces#office_1",
                },
            ),
            "task": Kind(
                ("Task",),
                {
                    "pk": "$taskapp#taskid_{taskId:lower}",
                    "sk": "$task_1#employeeid_{employeeId:lower}#project_{project:lower}",
                    "gsi1pk": "$taskapp#project_{project:lower}",
                    "gsi1sk": "$task_1#employeeid_{employeeId:lower}#taskid_{taskId:lower}",
                    "gsi2pk": "$taskapp#employeeid_{employeeId:lower}",
                    "gsi2sk": "$assignments#task_1#project_{project:lower}#taskid_{taskId:lower}",
                },
            ),
        },
        {("task", "employeeId", "employee")},
    )
    marks = {"__edb_v__": "1"}
    offices = [
        (f"{word.capitalize()} House", word) for word in ("north", "ocean", "pearl", "river")
    ]
    for office, city in offices:
        country, state = "DE", make.one_of("BE", "HH", "BY")
        made.add(
            "office",
            pk=f"$taskapp#country_{country.lower()}#state_{state.lower()}",
            sk=f"$office_1#city_{city}#office_{office.lower()}",
            gsi1pk=f"$taskapp#office_{office.lower()}",
            gsi1sk="$workplaces#office_1",
            country=country,
            state=state,
            city=city,
            office=office,
            zip=make.hex(5),
            address=make.words(),
            __edb_e__="office",
            **marks,
        )
    for _ in range(80):
        employee, office = f"Emp{make.hex(6).upper()}", make.one_of(*offices)[0]
        low, team = employee.lower(), make.one_of("Devs", "Ops", "Sales")
        title = make.one_of("Junior Dev", "Senior Dev", "Clerk")
        made.add(
            "employee",
            pk=f"$taskapp#employeeid_{low}",
            sk="$employee_1",
            gsi1pk=f"$taskapp#office_{office.lower()}",
            gsi1sk=f"$workplaces#employee_1#team_{team.lower()}#title_{title.lower()}"
            f"#employeeid_{low}",
            gsi2pk=f"$taskapp#team_{team.lower()}",
            gsi2sk=f"$employee_1#employeeid_{low}",
            employeeId=employee,
            firstName=make.name(),
            lastName=make.name(),
            office=office,
            team=team,
            title=title,
            salary=make.number(9000),
            __edb_e__="employee",
            **marks,
        )
        for _ in range(3):
            task, project = make.uuid(), make.one_of("Alpha", "Beta", "Gamma Ray")
            made.add(
                "task",
                pk=f"$taskapp#taskid_{task}",
                sk=f"$task_1#employeeid_{low}#project_{project.lower()}",
                gsi1pk=f"$taskapp#project_{project.lower()}",
                gsi1sk=f"$task_1#employeeid_{low}#taskid_{task}",
                gsi2pk=f"$taskapp#employeeid_{low}",
                gsi2sk=f"$assignments#task_1#project_{project.lower()}#taskid_{task}",
                taskId=task,
                employeeId=employee,
                project=project,
                description=make.words(),
                status=make.one_of("open", "closed"),
                points=make.number(9),
                __edb_e__="task",
                **marks,
            )
    return made
