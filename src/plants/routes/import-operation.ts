import type { Operation } from '../../http/openapi.ts'
import { CSV, NDJSON } from '../import/import-parameters.ts'
import { REPORTED_ERRORS_MAX } from '../import/import-report.ts'
import { CONFLICT_RULES } from '../import/run-import.ts'

const NDJSON_EXAMPLE = '{"id":51,"name":"Quercus robur","tag":"tree"}\n{"id":52,"name":"Medicago ×varia"}\n'
const CSV_EXAMPLE = 'id,name,tag\r\n53,Quercus robur,tree\r\n54,"Rosa, climbing",\r\n'
const EVENTS_EXAMPLE = [
  '{"type":"progress","line":1001,"created":999,"replaced":0,"skipped":0,"failed":1}',
  '{"type":"error","line":1040,"id":51,"error":40901,"message":"The id 51 is already used.","fields":[{"name":"id","rule":"unique"}]}',
  '{"type":"report","created":1998,"replaced":0,"skipped":0,"failed":2}',
]

export const importPlantsOperation: Operation = {
  operationId: 'importPlants',
  summary: 'Add many plants at once',
  description:
    'A body of any length, read as it arrives: a plant per line (NDJSON) or a table (CSV). Rows are stored in ' +
    'chunks, each of them on disk. A failed row is reported and the others are stored: 40002 is a line that is not ' +
    'JSON or UTF-8, 40003 an invalid field, 40901 a used id, 41301 a row over 64 KiB. A fault that ends the import ' +
    'is an error whose details have the line, the counts and the outcome. Run it again with `onConflict=skip` to ' +
    'continue. An import may take any time, but 30 seconds without a byte end it, unless the service is ' +
    'configured otherwise.\n\n' +
    'A table has a header row that names the columns id, name and tag in any order and case; others are passed ' +
    'over. An empty cell is none: CSV cannot hold an empty name or tag. A body in gzip has ' +
    '`Content-Encoding: gzip`.\n\n' +
    '`Accept: application/x-ndjson` asks for an answer that tells of the import while it runs, in lines: each is ' +
    'an ImportEvent, every refused row one of them, and the last one a report or a failure. An answer without ' +
    'such a last line broke off.',
  group: 'Plants',
  parameters: [
    {
      name: 'onConflict',
      in: 'query',
      description:
        'What becomes of a row whose id is taken: `fail` refuses it, `skip` passes it over, `replace` replaces ' +
        'the stored plant. An id that came earlier in the same body is taken.',
      schema: { type: 'string', enum: CONFLICT_RULES, default: 'fail' },
    },
    {
      name: 'dryRun',
      in: 'query',
      description: 'Store nothing, and answer what would become of the rows',
      schema: { type: 'boolean', default: false },
    },
    {
      name: 'columns',
      in: 'query',
      description:
        'CSV only: the names of the columns, separated by commas, of a table without a header row. Those that are ' +
        'not id, name or tag are passed over.',
      schema: { type: 'string' },
    },
    {
      name: 'idStart',
      in: 'query',
      description:
        'CSV only: number the rows from here on, refused ones as well; then there need be no column id, and one ' +
        'that there is does not count',
      schema: { type: 'integer', format: 'int64' },
    },
    {
      name: 'encoding',
      in: 'query',
      description:
        'CSV only: the encoding of the text where it is not UTF-8: windows-1252, utf-16le, iso-8859-1 …',
      schema: { type: 'string' },
    },
  ],
  requestBody: {
    required: true,
    content: {
      [NDJSON]: {
        schema: { type: 'string', description: 'Lines, each a NewPlant' },
        example: NDJSON_EXAMPLE,
      },
      [CSV]: { schema: { type: 'string', description: 'A table (RFC 4180)' }, example: CSV_EXAMPLE },
    },
  },
  responses: {
    200: {
      description:
        'Every row was read. The report lists the first ' +
        `${REPORTED_ERRORS_MAX.toLocaleString('en')} that were refused and counts all of them.`,
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/ImportReport' },
          example: {
            created: 1998,
            replaced: 0,
            skipped: 0,
            failed: 1,
            errors: [
              {
                line: 1040,
                id: 51,
                error: 40901,
                message: 'The id 51 is already used.',
                fields: [{ name: 'id', rule: 'unique' }],
              },
            ],
          },
        },
        [NDJSON]: {
          schema: { type: 'string', description: 'Lines, each an ImportEvent' },
          example: `${EVENTS_EXAMPLE.join('\n')}\n`,
        },
      },
    },
  },
  errors: [40001, 40002, 40003, 41301, 41501, 50701],
}
