import type { Operation } from '../../http/openapi.ts'
import { KEY_FIELD_CHARACTERS_MAX } from '../idempotency-key.ts'
import { STORED_EXAMPLE } from './list-operations.ts'

const EXAMPLE_ID = 9007199254740993n

const ID_IN_PATH = {
  name: 'id',
  in: 'path',
  required: true,
  description: `A whole decimal number of 64 bits, such as 42 or ${EXAMPLE_ID}`,
  schema: { type: 'integer', format: 'int64' },
  example: 42,
}

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  description: 'Do it only if the plant still has one of these ETags; `*` means only if there is a plant',
  schema: { type: 'string' },
}

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description: 'Do it only if the plant has none of these ETags; `*` means only if there is no plant yet',
  schema: { type: 'string' },
}

const STORED_PLANT = {
  'application/json': { schema: { $ref: '#/components/schemas/StoredPlant' }, example: STORED_EXAMPLE },
}

export const createPlantOperation: Operation = {
  operationId: 'createPlant',
  summary: 'Add a plant',
  description:
    'The plant is on disk when this answers 200. A taken id is refused and the stored plant unchanged.',
  group: 'Plants',
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'Makes a retry safe: the same key and body get the same answer and add nothing, for 24 hours unless ' +
        'the service is set up otherwise. 1 to 255 printable ASCII characters, bare or in quotation marks.',
      schema: { type: 'string', maxLength: KEY_FIELD_CHARACTERS_MAX },
    },
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/NewPlant' },
        examples: {
          tagged: { value: { id: 42, name: 'Quercus robur', tag: 'tree' } },
          untagged: { value: { id: 43, name: 'Medicago ×varia' } },
        },
      },
    },
  },
  answers: {
    200: {
      description: 'The plant is stored',
      headers: ['ETag', 'Location'],
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Plant' },
          example: { name: 'Quercus robur', tag: 'tree' },
        },
      },
    },
  },
  errors: [40001, 40002, 40003, 40901, 40902, 41301, 41501, 42201, 50701],
}

export const getPlantOperation: Operation = {
  operationId: 'getPlant',
  summary: 'Read a plant',
  group: 'Plants',
  parameters: [
    ID_IN_PATH,
    IF_MATCH,
    {
      name: 'If-None-Match',
      in: 'header',
      description: 'Answer 304 if the plant still has one of these ETags',
      schema: { type: 'string' },
    },
  ],
  answers: {
    200: { description: 'The plant', headers: ['ETag'], content: STORED_PLANT },
    304: { description: 'The plant still has that ETag', headers: ['ETag'] },
  },
  errors: [40402, 41201],
}

const PLANT_BODY = {
  required: true,
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Plant' },
      example: { name: 'Quercus petraea', tag: 'tree' },
    },
  },
}

export const replacePlantOperation: Operation = {
  operationId: 'replacePlant',
  summary: 'Replace a plant, or add it',
  description: "An id in the body must equal the path's.",
  group: 'Plants',
  parameters: [ID_IN_PATH, IF_MATCH, IF_NONE_MATCH],
  requestBody: PLANT_BODY,
  answers: {
    200: { description: 'Replaced', headers: ['ETag'], content: STORED_PLANT },
    201: { description: 'Added', headers: ['ETag', 'Location'], content: STORED_PLANT },
  },
  errors: [40001, 40002, 40003, 41201, 41301, 41501, 50701],
}

const CHANGE_CONTENT = {
  schema: { $ref: '#/components/schemas/PlantUpdate' },
  example: { tag: 'oak' },
}

export const updatePlantOperation: Operation = {
  operationId: 'updatePlant',
  summary: 'Update a plant',
  description:
    'A JSON merge patch (RFC 7396): what is left out stays as it is, `"tag": null` removes the tag.',
  group: 'Plants',
  parameters: [ID_IN_PATH, IF_MATCH],
  requestBody: {
    required: true,
    content: { 'application/merge-patch+json': CHANGE_CONTENT, 'application/json': CHANGE_CONTENT },
  },
  answers: { 200: { description: 'Updated', headers: ['ETag'], content: STORED_PLANT } },
  errors: [40001, 40002, 40003, 40402, 41201, 41301, 41501, 50701],
}

export const deletePlantOperation: Operation = {
  operationId: 'deletePlant',
  summary: 'Delete a plant',
  group: 'Plants',
  parameters: [ID_IN_PATH, IF_MATCH],
  answers: { 204: { description: 'Deleted' } },
  errors: [40402, 41201, 50701],
}
