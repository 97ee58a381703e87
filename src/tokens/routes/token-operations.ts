import type { Operation } from '../../http/openapi.ts'

const TOKEN_EXAMPLE = {
  id: '4mHq2LxP0aZ',
  label: 'the greenhouse',
  scopes: ['plants:read', 'plants:write'],
  createdAt: '2026-04-01T08:30:00.000Z',
}

const CREATED_TOKEN_CONTENT = {
  'application/json': {
    schema: { $ref: '#/components/schemas/CreatedToken' },
    example: { ...TOKEN_EXAMPLE, token: 'plst_…' },
  },
}

const TOKEN_ID = {
  name: 'id',
  in: 'path',
  example: TOKEN_EXAMPLE.id,
  required: true,
  description: 'The id of the token, not its secret',
  schema: { type: 'string' },
}

export const listTokensOperation: Operation = {
  operationId: 'listTokens',
  summary: 'List tokens',
  description: 'The oldest first. Secrets are not stored and cannot be listed.',
  group: 'Tokens',
  responses: {
    200: {
      description: 'Every token that is not revoked',
      content: {
        'application/json': {
          schema: { type: 'array', items: { $ref: '#/components/schemas/Token' } },
          example: [TOKEN_EXAMPLE],
        },
      },
    },
  },
}

export const createTokenOperation: Operation = {
  operationId: 'createToken',
  summary: 'Create a token',
  description:
    'The response is the only one that contains the token. A caller with `tokens:manage` can grant any scope.',
  group: 'Tokens',
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/NewToken' },
        example: { label: 'the greenhouse', scopes: ['plants:read', 'plants:write'] },
      },
    },
  },
  responses: {
    201: {
      description: 'The token',
      content: CREATED_TOKEN_CONTENT,
    },
  },
  errors: [40001, 40002, 40003, 41301, 41501, 50701],
}

export const getOwnTokenOperation: Operation = {
  operationId: 'getOwnToken',
  summary: 'Get the token of this request',
  group: 'Tokens',
  responses: {
    200: {
      description: 'Label, scopes and expiry of the token that sent this request',
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/Token' }, example: TOKEN_EXAMPLE },
      },
    },
  },
}

/** The common part of both rotations. */
const ROTATION = {
  group: 'Tokens',
  requestBody: {
    required: false,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/TokenRotation' },
        example: { graceSeconds: 3600 },
      },
    },
  },
  responses: {
    200: {
      description: 'The token with its new secret',
      content: CREATED_TOKEN_CONTENT,
    },
  },
  errors: [40002, 40003, 40403, 41301, 41501, 50701],
} as const satisfies Partial<Operation>

export const rotateTokenOperation: Operation = {
  ...ROTATION,
  operationId: 'rotateToken',
  summary: 'Rotate a token',
  description:
    'Gives the token a new secret. Id, label, scopes and expiry stay the same. The response is the only one that ' +
    'contains the new secret. The old one stays valid for the grace period, `graceSeconds`; one from an earlier ' +
    'rotation expires at once. An expired token cannot be rotated (40004).',
  parameters: [TOKEN_ID],
}

export const rotateOwnTokenOperation: Operation = {
  ...ROTATION,
  operationId: 'rotateOwnToken',
  summary: 'Rotate the token of this request',
  description:
    'Like `POST /tokens/{id}/rotate`, but needs no scope. A secret in its grace period cannot rotate (40301): a ' +
    'leaked old secret does not yield a new one.',
  errors: [...ROTATION.errors, 40301],
}

export const revokeTokenOperation: Operation = {
  operationId: 'revokeToken',
  summary: 'Revoke a token',
  description: 'Takes effect on every replica within 5 seconds and cannot be undone.',
  group: 'Tokens',
  parameters: [TOKEN_ID],
  responses: { 204: { description: 'Revoked' } },
  errors: [40403, 50701],
}
