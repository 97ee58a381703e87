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

/** The schema of a text in NDJSON, whose lines have the named schema. */
function ndjsonOf(name: 'ImportEvent' | 'NewPlant', description: string) {
  const lines = { type: 'array', items: { $ref: `#/components/schemas/${name}` } }
  return { type: 'string', description, contentMediaType: NDJSON, contentSchema: lines }
}

export const importPlantsOperation: Operation = {
  operationId: 'importPlants',
  summary: 'Import plants',
  description:
    'The body has any length: NDJSON, one plant per line, or a CSV table. Rows are stored in chunks while the body ' +
    'arrives, each chunk durably. A failed row is reported and the others are stored: 40002 is a line that is not ' +
    'JSON or UTF-8, 40003 an invalid field, 40901 a used id, 41301 a row over 64 KiB. An error that ends the import ' +
    'has the line, the counts and the outcome in its details. To resume, send the body again with ' +
    '`onConflict=skip`. An import may take hours, but ends after 30 seconds (by default) without a byte.\n\n' +
    'The header row of a table names the columns id, name and tag, in any order and case; other columns are ' +
    'ignored. Rows of only commas are ignored like blank lines. An empty cell has no value, so CSV cannot contain an empty name or tag. A compressed body has ' +
    '`Content-Encoding: gzip`. The media types application/ndjson and application/jsonl mean NDJSON, ' +
    'application/vnd.ms-excel means CSV.\n\n' +
    'With `Accept: application/x-ndjson` the response reports the import while it runs. Each line is an ' +
    'ImportEvent, with one for every failed row. The last line is a report or a failure; a response without it was ' +
    'interrupted.',
  group: 'Plants',
  parameters: [
    {
      name: 'onConflict',
      in: 'query',
      description:
        'For a row whose id is already used: `fail` reports it as failed, `skip` ignores it, `replace` replaces the ' +
        'stored plant. An id from an earlier row of the same body is used.',
      schema: { type: 'string', enum: CONFLICT_RULES, default: 'fail' },
    },
    {
      name: 'dryRun',
      in: 'query',
      description: 'Store nothing, and report what would happen to each row',
      schema: { type: 'boolean', default: false },
    },
    {
      name: 'columns',
      in: 'query',
      description:
        'CSV only: the columns of a table without a header row, separated by commas. Columns other than id, name and ' +
        'tag are ignored.',
      schema: { type: 'string' },
    },
    {
      name: 'idStart',
      in: 'query',
      description:
        'CSV only: the id of the first row. The following rows, failed ones included, get the next ids. No column id ' +
        'is required, and an existing one is ignored.',
      schema: { type: 'integer', format: 'int64' },
    },
    {
      name: 'encoding',
      in: 'query',
      description:
        'CSV only: the encoding of the table if it is not UTF-8, such as windows-1252, utf-16le or iso-8859-1',
      schema: { type: 'string' },
    },
  ],
  requestBody: {
    required: true,
    content: {
      [NDJSON]: {
        schema: ndjsonOf('NewPlant', 'NDJSON: each line is a NewPlant'),
        example: NDJSON_EXAMPLE,
      },
      [CSV]: { schema: { type: 'string', description: 'CSV (RFC 4180)' }, example: CSV_EXAMPLE },
    },
  },
  responses: {
    200: {
      description:
        'Every row was read. The report lists the first ' +
        `${REPORTED_ERRORS_MAX.toLocaleString('en')} failed rows and counts all of them.`,
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
          schema: ndjsonOf('ImportEvent', 'NDJSON: each line is an ImportEvent'),
          example: `${EVENTS_EXAMPLE.join('\n')}\n`,
        },
      },
    },
  },
  errors: [40001, 40002, 40003, 41301, 41501, 50701],
}
