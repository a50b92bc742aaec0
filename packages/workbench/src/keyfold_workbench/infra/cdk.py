"""A design as a stack of the CDK, in Python: the CloudFormation template, its code an asset."""

from __future__ import annotations

from keyfold import literals
from keyfold.design.schema import Schema
from keyfold_workbench.infra import cloudformation
from keyfold_workbench.infra.plan import identifier

_PROGRAM = '''\
{documentation}

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from aws_cdk import Stack
from aws_cdk.aws_s3_assets import Asset
from aws_cdk.cloudformation_include import CfnInclude
from constructs import Construct

TEMPLATE = {template}


class {name}Stack(Stack):
    """`parameters` are those of the template, such as Prefix; `code` is the consumers' folder."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        code: str = "dist",
        parameters: dict[str, str] | None = None,
        **kwargs,
    ) -> None:
        super().__init__(scope, id, **kwargs)
        given = dict(parameters or {{}})
        if "CodeKey" in TEMPLATE["Parameters"]:
            archive = Asset(self, "Code", path=code)
            given["CodeBucket"] = archive.s3_bucket_name
            given["CodeKey"] = archive.s3_object_key
        with TemporaryDirectory() as folder:
            file = Path(folder) / "template.json"
            file.write_text(json.dumps(TEMPLATE), encoding="utf-8")
            self.template = CfnInclude(
                self, "Template", template_file=str(file), parameters=given
            )
'''


def render(schema: Schema) -> str:
    return _PROGRAM.format(
        documentation=literals.docstring(
            f"The tables of {schema.name}, their consumers, permissions and alarms."
        ),
        template=literals.python(cloudformation.template(schema), 0),
        name=identifier(schema.name),
    )
