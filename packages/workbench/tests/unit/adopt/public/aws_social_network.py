"""After Amazon's developer guide, "Data modeling schemas": the social network, without types."""

from __future__ import annotations

from tests.unit.adopt.public.made import Kind, Maker, Public, table


def design() -> Public:
    make = Maker(2)
    made = Public(
        "social network",
        "Amazon DynamoDB developer guide, Data modeling schemas",
        table("SocialNetwork", "PK SK"),
        {
            "user": Kind(("User", "UserInfo", "Info", "UInfo"), {"PK": "u#{?}", "SK": "info"}),
            "count": Kind(("Count", "UserCount", "UCount"), {"PK": "u#{?}", "SK": "count"}),
            "follower": Kind(("Follower", "UserFollower"), {"PK": "u#{?}#follower", "SK": "u#{?}"}),
            "following": Kind(
                ("Following", "UserFollowing"), {"PK": "u#{?}#following", "SK": "u#{?}"}
            ),
            "post": Kind(("Post", "UserPost"), {"PK": "u#{?}#post", "SK": "p#{?}"}),
            "like": Kind(
                ("Like", "Likelist", "PostLikelist"), {"PK": "p#{?}#likelist", "SK": "u#{?}"}
            ),
            "likecount": Kind(
                ("LikeCount", "Likecount", "PostLikecount"),
                {"PK": "p#{?}#likecount", "SK": "count"},
            ),
            "timeline": Kind(
                ("Timeline", "UserTimeline"), {"PK": "u#{?}#timeline", "SK": "p#{?}#u#{?}"}
            ),
        },
    )
    users = [f"{n}" for n in range(12345, 12385)]
    posts = []
    for each in users:
        made.add(
            "user",
            PK=f"u#{each}",
            SK="info",
            name=make.name(),
            content=make.words(),
            imageUrl=f"https://example.org/{each}.png",
        )
        made.add(
            "count",
            PK=f"u#{each}",
            SK="count",
            follower=make.number(),
            following=make.number(),
            post=make.number(),
        )
        for other in make.random.sample(users, 3):
            made.add("follower", PK=f"u#{each}#follower", SK=f"u#{other}")
            made.add("following", PK=f"u#{other}#following", SK=f"u#{each}")
        for _ in range(2):
            post = make.hex(6)
            posts.append((each, post))
            made.add(
                "post",
                PK=f"u#{each}#post",
                SK=f"p#{post}",
                content=make.words(8),
                imageUrl=f"https://example.org/{post}.png",
                timestamp=int(make.moment().timestamp()),
            )
    for author, post in posts:
        made.add("likecount", PK=f"p#{post}#likecount", SK="count", count=make.number())
        for reader in make.random.sample(users, 2):
            made.add("like", PK=f"p#{post}#likelist", SK=f"u#{reader}")
            made.add(
                "timeline",
                PK=f"u#{reader}#timeline",
                SK=f"p#{post}#u#{author}",
                ttl=int(make.moment().timestamp()),
            )
    return made
