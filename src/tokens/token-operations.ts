import type { Operation } from '../http/openapi.ts'

const TOKEN_EXAMPLE = {
  id: '4mHq2LxP0aZ',
  label: 'the greenhouse',
  scopes: ['plants:read', 'plants:write'],
  createdAt: '2026-04-01T08:30:00.000Z',
}

export const listTokensOperation: Operation = {
  operationId: 'listTokens',
  summary: 'List the tokens',
  description: 'The oldest first. The tokens themselves are not kept and cannot be shown.',
  group: 'Tokens',
  answers: {
    200: {
      description: 'Every token that is not revoked',
      headers: ['Cache-Control'],
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
  answers: {
    201: {
      description: 'The token',
      headers: ['Cache-Control'],
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
  answers: {
    200: {
      description: 'The token that this request was sent with',
      headers: ['Cache-Control'],
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/Token' }, example: TOKEN_EXAMPLE },
      },
    },
  },
}

export const revokeTokenOperation: Operation = {
  operationId: 'revokeToken',
  summary: 'Revoke a token',
  description: 'For good, and everywhere within 5 seconds.',
  group: 'Tokens',
  parameters: [
    {
      name: 'id',
      in: 'path',
      required: true,
      description: "The token's id, not the token",
      schema: { type: 'string' },
    },
  ],
  answers: { 204: { description: 'Revoked' } },
  errors: [40403, 50701],
}
