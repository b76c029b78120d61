# The game table, as gametable makes it where there is none: terraform init && terraform apply
# The index `ranks` is not here: Redis or Valkey has it.
terraform {
  required_providers {
    aws = { source = "hashicorp/aws", version = ">= 5.0" }
  }
}

variable "region" { default = "us-east-1" }
variable "table" { default = "gametable" }

provider "aws" { region = var.region }

resource "aws_dynamodb_table" "game" {
  name             = var.table
  billing_mode     = "PAY_PER_REQUEST"
  hash_key         = "PK"
  range_key        = "SK"
  stream_enabled   = true
  stream_view_type = "NEW_AND_OLD_IMAGES"

  dynamic "attribute" {
    for_each = ["PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"]
    content {
      name = attribute.value
      type = "S"
    }
  }

  global_secondary_index {
    name            = "GSI1"
    hash_key        = "GSI1PK"
    range_key       = "GSI1SK"
    projection_type = "ALL"
  }

  global_secondary_index {
    name            = "GSI2"
    hash_key        = "GSI2PK"
    range_key       = "GSI2SK"
    projection_type = "ALL"
  }

  ttl {
    attribute_name = "ttl"
    enabled        = true
  }

  point_in_time_recovery { enabled = true }

  lifecycle { prevent_destroy = true }
}

resource "aws_iam_policy" "node" {
  name   = "${var.table}-node"
  policy = replace(file("${path.module}/iam-policy.json"), "table/gametable", "table/${var.table}")
}

output "policy" { value = aws_iam_policy.node.arn } # for the role of the nodes
