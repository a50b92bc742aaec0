"""gg_core: goals, groups, quests, chat and a hybrid feed."""
