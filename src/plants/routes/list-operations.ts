import type { Operation } from '../../http/openapi.ts'

export const STORED_EXAMPLE = {
  id: 42,
  name: 'Quercus robur',
  tag: 'tree',
  createdAt: '2026-04-01T08:30:00.000Z',
  updatedAt: '2026-04-01T08:30:00.000Z',
}

const LIMIT = {
  name: 'limit',
  in: 'query',
  description: 'How many at most; more than 1000 is lowered to 1000',
  schema: { type: 'integer', format: 'int32', minimum: 1, default: 100 },
}

/** Without a default, which a page that tries the operation would send along with a request for all plants. */
const PAGE_LIMIT = {
  ...LIMIT,
  description: 'How many at most, of JSON only: 100 unless told, and more than 1000 is lowered to 1000',
  schema: { type: 'integer', format: 'int32', minimum: 1 },
}

export const listPlantsOperation: Operation = {
  operationId: 'listPlants',
  summary: 'List and search plants',
  description:
    'In the order of their ids. When there is more, a Link field names the next page; one of very long names holds ' +
    'fewer plants than were asked for. A plant is found by `q` as soon as its name is indexed: at once in a quiet ' +
    'store, some seconds behind in a busy one.\n\n' +
    '`Accept: application/x-ndjson` or `text/csv` asks for every plant that matches, as the collection was at one ' +
    'moment, however many there are: a StoredPlant a line, or a table with the columns id, name, tag, createdAt and ' +
    'updatedAt. An answer that breaks off is not whole. No tag is an empty cell; an empty one, which CSV cannot ' +
    'tell from none, is `""`. No cell is escaped for spreadsheets.',
  group: 'Plants',
  parameters: [
    PAGE_LIMIT,
    {
      name: 'after',
      in: 'query',
      description: 'Only plants with a greater id',
      schema: { type: 'integer', format: 'int64' },
    },
    {
      name: 'bom',
      in: 'query',
      description: 'CSV only: 1 begins it with a byte order mark, by which spreadsheets know UTF-8',
      schema: { type: 'integer', enum: [0, 1] },
    },
    {
      name: 'tag',
      in: 'query',
      description: 'Only plants with exactly this tag',
      schema: { type: 'string' },
    },
    {
      name: 'q',
      in: 'query',
      description:
        'Only plants whose name holds each of these words, or words that begin so (`querc rob`), blind to ' +
        'case, accents, × against x, and kinds of quotes and spaces',
      schema: { type: 'string' },
    },
  ],
  answers: {
    200: {
      description: 'A page of plants, or all of them in lines or a table',
      headers: ['Link'],
      content: {
        'application/json': {
          schema: { type: 'array', items: { $ref: '#/components/schemas/StoredPlant' } },
          example: [STORED_EXAMPLE],
        },
        'application/x-ndjson': {
          schema: { type: 'string', description: 'Lines, each a StoredPlant' },
          example: `${JSON.stringify(STORED_EXAMPLE)}\n`,
        },
        'text/csv': {
          schema: { type: 'string', description: 'A table (RFC 4180), with a header row' },
          example:
            'id,name,tag,createdAt,updatedAt\r\n' +
            '42,Quercus robur,tree,2026-04-01T08:30:00.000Z,2026-04-01T08:30:00.000Z\r\n',
        },
      },
    },
  },
}

export const listTagsOperation: Operation = {
  operationId: 'listTags',
  summary: 'List the tags in use',
  description:
    'The most used first; fewer than `limit` where they are long, 4 Mi characters in all, or a little more.',
  group: 'Plants',
  parameters: [LIMIT],
  answers: {
    200: {
      description: 'Tags, and how many plants have each',
      content: {
        'application/json': {
          schema: { type: 'array', items: { $ref: '#/components/schemas/TagCount' } },
          example: [{ tag: 'tree', count: 2 }],
        },
      },
    },
  },
}

export const countAdditionsOperation: Operation = {
  operationId: 'countAdditions',
  summary: 'Count plants by the day on which they were added',
  description:
    'Of the plants that there are; removed ones are not counted. All plants are read for it, which takes seconds ' +
    'where there are millions, so the answer is kept and given again: for a minute, or fifty times as long as the ' +
    'count took where that is more. `countedAt` tells how old it is.',
  group: 'Plants',
  answers: {
    200: {
      description: 'Days, and how many plants were added on each',
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Additions' },
          example: {
            countedAt: '2026-11-28T09:30:00.000Z',
            days: [
              { day: '2026-04-01', count: 12 },
              { day: '2026-11-28', count: 3 },
            ],
          },
        },
      },
    },
  },
}
