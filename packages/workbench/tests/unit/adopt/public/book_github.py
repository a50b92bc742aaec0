"""After Alex DeBrie, The DynamoDB Book: GitHub's backend (padded numbers, Type attribute)."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(9)
    repo_key = "REPO#{RepoOwner}#{RepoName}"
    made = Public(
        "GitHub",
        "Alex DeBrie, The DynamoDB Book",
        table(
            "GitHubTable", "PK SK", "GSI1 GSI1PK GSI1SK", "GSI2 GSI2PK GSI2SK", "GSI3 GSI3PK GSI3SK"
        ),
        {
            "Repo": Kind(
                ("Repo",),
                {
                    "PK": repo_key,
                    "SK": repo_key,
                    "GSI1PK": repo_key,
                    "GSI1SK": repo_key,
                    "GSI2PK": repo_key,
                    "GSI2SK": f"#{repo_key}",
                    "GSI3PK": "ACCOUNT#{RepoOwner}",
                    "GSI3SK": "#{UpdatedAt}",
                },
            ),
            "Issue": Kind(
                ("Issue",),
                {
                    "PK": repo_key,
                    "SK": "ISSUE#{IssueNumber:07d}",
                    "GSI1PK": repo_key,
                    "GSI1SK": "ISSUE#{Status}#{IssueNumber:07d}",
                },
            ),
            "PullRequest": Kind(
                ("PullRequest",),
                {
                    "PK": "PR#{RepoOwner}#{RepoName}#{PullRequestNumber:07d}",
                    "SK": "PR#{RepoOwner}#{RepoName}#{PullRequestNumber:07d}",
                    "GSI1PK": repo_key,
                    "GSI1SK": "PR#{PullRequestNumber:07d}",
                },
            ),
            "Comment": Kind(
                ("Comment", "IssueComment"),
                {
                    "PK": "ISSUECOMMENT#{RepoOwner}#{RepoName}#{IssueNumber:07d}",
                    "SK": "ISSUECOMMENT#{CommentId}",
                },
            ),
            "Star": Kind(("Star",), {"PK": repo_key, "SK": "STAR#{StarringUser}"}),
            "User": Kind(
                ("User",),
                {
                    "PK": "ACCOUNT#{Username}",
                    "SK": "ACCOUNT#{Username}",
                    "GSI3PK": "ACCOUNT#{Username}",
                    "GSI3SK": "ACCOUNT#{Username}",
                },
            ),
            "Organization": Kind(
                ("Organization",),
                {
                    "PK": "ACCOUNT#{OrgName}",
                    "SK": "ACCOUNT#{OrgName}",
                    "GSI3PK": "ACCOUNT#{OrgName}",
                    "GSI3SK": "ACCOUNT#{OrgName}",
                },
            ),
            "Membership": Kind(
                ("Membership",), {"PK": "ACCOUNT#{OrgName}", "SK": "MEMBERSHIP#{Username}"}
            ),
            "Gist": Kind(("Gist",), {"PK": "ACCOUNT#{Username}", "SK": "#GIST#{GistId}"}),
        },
        {
            ("Membership", "Username", "User"),
            ("Membership", "OrgName", "Organization"),
            ("Gist", "Username", "User"),
            ("Star", "StarringUser", "User"),
        },
    )
    users = [make.user(n) for n in range(50)]
    orgs = [f"{word}-labs" for word in ("amber", "basil", "cedar", "delta", "ember", "fjord")]
    for user in users:
        key = f"ACCOUNT#{user}"
        made.add(
            "User",
            PK=key,
            SK=key,
            Type="User",
            Username=user,
            CreatedAt=make.iso(),
            GSI3PK=key,
            GSI3SK=key,
            PaymentPlan=None,
        )
        for _ in range(2):
            gist = make.hex(12)
            made.add(
                "Gist",
                PK=key,
                SK=f"#GIST#{gist}",
                Type="Gist",
                GistId=gist,
                Username=user,
                GistTitle=make.words(),
                CreatedAt=make.iso(),
            )
    for org in orgs:
        key = f"ACCOUNT#{org}"
        made.add(
            "Organization",
            PK=key,
            SK=key,
            Type="Organization",
            OrgName=org,
            PaymentPlan={"PlanType": "Business"},
            GSI3PK=key,
            GSI3SK=key,
            CreatedAt=make.iso(),
        )
        for user in make.random.sample(users, 8):
            made.add(
                "Membership",
                PK=key,
                SK=f"MEMBERSHIP#{user}",
                Type="Membership",
                OrgName=org,
                Username=user,
                Role=make.one_of("Admin", "Member"),
                MemberSince=make.day(),
            )
    for _ in range(40):
        owner, name, when = make.one_of(*users, *orgs), make.words(2).replace(" ", "-"), make.iso()
        repo = f"REPO#{owner}#{name}"
        made.add(
            "Repo",
            PK=repo,
            SK=repo,
            Type="Repo",
            RepoOwner=owner,
            RepoName=name,
            UpdatedAt=when,
            StarCount=make.number(),
            ForkCount=make.number(),
            CreatedAt=make.iso(),
            GSI1PK=repo,
            GSI1SK=repo,
            GSI2PK=repo,
            GSI2SK=f"#{repo}",
            GSI3PK=f"ACCOUNT#{owner}",
            GSI3SK=f"#{when}",
        )
        for user in make.random.sample(users, 3):
            made.add(
                "Star",
                PK=repo,
                SK=f"STAR#{user}",
                Type="Star",
                RepoOwner=owner,
                RepoName=name,
                StarringUser=user,
                StarredAt=make.iso(),
            )
        for number in make.random.sample(range(1, 900), 3):
            status = make.one_of("Open", "Closed")
            made.add(
                "Issue",
                PK=repo,
                SK=f"ISSUE#{number:07d}",
                Type="Issue",
                RepoOwner=owner,
                RepoName=name,
                IssueNumber=number,
                Status=status,
                Title=make.words(),
                CreatorUsername=make.one_of(*users),
                GSI1PK=repo,
                GSI1SK=f"ISSUE#{status}#{number:07d}",
            )
            comment = make.hex(10)
            made.add(
                "Comment",
                PK=f"ISSUECOMMENT#{owner}#{name}#{number:07d}",
                SK=f"ISSUECOMMENT#{comment}",
                Type="Comment",
                RepoOwner=owner,
                RepoName=name,
                IssueNumber=number,
                CommentId=comment,
                Content=make.words(9),
            )
        pull = make.number(900)
        key = f"PR#{owner}#{name}#{pull:07d}"
        made.add(
            "PullRequest",
            PK=key,
            SK=key,
            Type="PullRequest",
            RepoOwner=owner,
            RepoName=name,
            PullRequestNumber=pull,
            Title=make.words(),
            GSI1PK=repo,
            GSI1SK=f"PR#{pull:07d}",
        )
    return made
