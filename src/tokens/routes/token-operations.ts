import type { Operation } from '../../http/openapi.ts'

const TOKEN_EXAMPLE = {
  id: '4mHq2LxP0aZ',
  label: 'the greenhouse',
  scopes: ['plants:read', 'plants:write'],
  createdAt: '2026-04-01T08:30:00.000Z',
}

const TOKEN_ID = {
  name: 'id',
  in: 'path',
  required: true,
  description: "The token's id, not the token",
  schema: { type: 'string' },
}

export const listTokensOperation: Operation = {
  operationId: 'listTokens',
  summary: 'List the tokens',
  description: 'The oldest first. The tokens themselves are not kept and cannot be shown.',
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
  summary: 'Make a token',
  description:
    'The answer holds the token: it is shown this once. Whoever may manage tokens may give any scope.',
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
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/CreatedToken' },
          example: { ...TOKEN_EXAMPLE, token: 'plst_…' },
        },
      },
    },
  },
  errors: [40001, 40002, 40003, 41301, 41501, 50701],
}

export const getOwnTokenOperation: Operation = {
  operationId: 'getOwnToken',
  summary: 'See what the token in use may do',
  group: 'Tokens',
  responses: {
    200: {
      description: 'The token that this request was sent with',
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/Token' }, example: TOKEN_EXAMPLE },
      },
    },
  },
}

/** What both rotations take and answer. */
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
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/CreatedToken' },
          example: { ...TOKEN_EXAMPLE, token: 'plst_…' },
        },
      },
    },
  },
  errors: [40002, 40003, 40403, 41301, 41501, 50701],
} as const satisfies Partial<Operation>

export const rotateTokenOperation: Operation = {
  ...ROTATION,
  operationId: 'rotateToken',
  summary: 'Give a token a new secret',
  description:
    'Id, label, scopes and expiry stay. The answer holds the new token: it is shown this once. The one that it ' +
    'replaces goes on for `graceSeconds`, and one replaced before that ends at once. An expired token cannot be ' +
    'rotated (40004).',
  parameters: [TOKEN_ID],
}

export const rotateOwnTokenOperation: Operation = {
  ...ROTATION,
  operationId: 'rotateOwnToken',
  summary: 'Give the token in use a new secret',
  description:
    'As `POST /tokens/{id}/rotate`, without a scope. A token that was replaced already cannot do it (40301), so ' +
    'that one which leaked is not made good again by who found it.',
  errors: [...ROTATION.errors, 40301],
}

export const revokeTokenOperation: Operation = {
  operationId: 'revokeToken',
  summary: 'Revoke a token',
  description: 'For good, and everywhere within 5 seconds.',
  group: 'Tokens',
  parameters: [TOKEN_ID],
  responses: { 204: { description: 'Revoked' } },
  errors: [40403, 50701],
}
