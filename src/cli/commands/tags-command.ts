import type { Command } from 'commander'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import { addRowsOptions, csvLine, type RowsFlags } from '../output/plant-output.ts'
import { printableLines } from '../output/printable.ts'
import { print } from '../output/standard-output.ts'
import { createTable } from '../output/table.ts'
import { parseCount } from './command-values.ts'

interface TagsFlags extends ServiceFlags, RowsFlags {
  limit?: number
}

/** The service counts no more at a time. */
const TAGS_MAX = 1_000

/** `plantstore tags`: what tags there are. */
export function addTagsCommand(program: Command): void {
  const command = program
    .command('tags')
    .description('list the tags and how many plants have each, the most used first')
    .option('--limit <number>', `how many at most, up to ${TAGS_MAX} (default: 100)`, parseCount(TAGS_MAX))
  addServiceOptions(addRowsOptions(command))
    .addHelpText('after', '\nExample:\n  plantstore tags --limit 10')
    .action(({ limit, json, csv, ...flags }: TagsFlags) =>
      callService(flags, async ({ client, signal }) => {
        const tags = await client.listTags({ limit, signal })
        if (json) return print(tags.map((tag) => `${printableLines(JSON.stringify(tag))}\n`).join(''))
        const rows = tags.map(({ tag, count }) => [tag, String(count)])
        if (csv) return print([['tag', 'count'], ...rows].map(csvLine).join(''))
        await print(
          createTable([
            { title: 'TAG', mayBeCut: true },
            { title: 'COUNT', isNumber: true },
          ])(rows),
        )
      }),
    )
}
