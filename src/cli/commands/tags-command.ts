import type { Command } from 'commander'
import { printableLines } from '../../printable.ts'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import type { CommandContext } from '../command-context.ts'
import { addRowsOptions, csvLine, type RowsFlags } from '../output/plant-output.ts'
import { print } from '../output/standard-output.ts'
import { createTable } from '../output/table.ts'
import { parseCount } from './command-values.ts'

interface TagsFlags extends ServiceFlags, RowsFlags {
  limit?: number
}

/** The service's own limit. */
const TAGS_MAX = 1_000

/** `plantstore tags`: the tags in use. */
export function addTagsCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('tags')
    .description('List the tags and their number of plants, most used first')
    .option(
      '--limit <number>',
      `Maximum number of tags, up to ${TAGS_MAX} (default: 100)`,
      parseCount(TAGS_MAX),
    )
  addServiceOptions(addRowsOptions(command))
    .addHelpText('after', '\nExample:\n  plantstore tags --limit 10')
    .action(({ limit, json, csv, ...flags }: TagsFlags) =>
      callService(context, flags, async ({ client, signal }) => {
        const { stdout } = context
        const tags = await client.listTags({ limit, signal })
        if (json) return print(stdout, tags.map((tag) => `${printableLines(JSON.stringify(tag))}\n`).join(''))
        const rows = tags.map(({ tag, count }) => [tag, String(count)])
        if (csv)
          return print(stdout, [['tag', 'count'], ...rows].map((cells) => csvLine(stdout, cells)).join(''))
        await print(
          stdout,
          createTable(
            [
              { title: 'TAG', isTruncatable: true },
              { title: 'COUNT', isNumber: true },
            ],
            stdout,
          )(rows),
        )
      }),
    )
}
