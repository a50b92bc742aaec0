"""DynamoDB's behaviour under load, as published: one small module per mechanism.

Letters after a statement name its source: DG the Developer Guide (2025/26), KC the AWS knowledge
centre, LAB the AWS workshop "Exercise 1: capacity" (2026), P22 and P23 the papers of USENIX ATC
2022 and 2023, B1 to B3 "Scaling DynamoDB" of the AWS Database Blog (2023), LDG the Lambda Developer
Guide, RET the announcement of the SDKs' retry defaults of November 2026.
"""
