import { type Command, Option } from 'commander'
import { readConfig } from '../config.ts'
import { SetupError } from '../errors.ts'
import { openStorage } from '../storage/open-storage.ts'
import type { Storage } from '../storage/storage.ts'
import { SCOPES, type StoredToken } from '../tokens/token.ts'
import { issueToken, parseNewToken } from '../tokens/token-routes.ts'

const DAY_MS = 86_400_000

interface CreateFlags {
  database?: string
  label: string
  scope: string[]
  expiresInDays?: string
}

/** `plantstore token create|list|revoke`: on the database itself, also beside a running service. */
export function addTokenCommand(program: Command): void {
  const token = program.command('token').description('make, list and revoke the tokens of a store')
  const database = () => new Option('--database <file or URL>', 'the store (PLANTSTORE_DATABASE)')

  token
    .command('create')
    .description('make a token and print it: it is shown this once')
    .addOption(database())
    .option('--label <text>', 'what it is for', '')
    .option('--scope <scope...>', `one or more of ${SCOPES.join(', ')}`, ['plants:read', 'plants:write'])
    .option('--expires-in-days <number>', 'after which it is no longer valid (default: never)')
    .addHelpText('after', '\nExample:\n  plantstore token create --label greenhouse --scope plants:read')
    .action((flags: CreateFlags) =>
      withStorage(flags.database, async ({ tokens }) => {
        const { token: secret, stored } = await issueToken(tokens, wantedToken(flags))
        process.stderr.write(`Token ${stored.id} with ${stored.scopes.join(', ')}. It is shown this once:\n`)
        process.stdout.write(`${secret}\n`)
      }),
    )

  token
    .command('list')
    .description('list the tokens, the oldest first')
    .addOption(database())
    .action((flags: { database?: string }) =>
      withStorage(flags.database, async ({ tokens }) => {
        process.stdout.write(tokenTable(await tokens.list()))
      }),
    )

  token
    .command('revoke <id>')
    .description('revoke a token for good; running services notice within 5 seconds')
    .addOption(database())
    .action((id: string, flags: { database?: string }) =>
      withStorage(flags.database, async ({ tokens }) => {
        if (!(await tokens.revoke(id)))
          throw new SetupError(`There is no token ${id}: see "plantstore token list".`)
        process.stderr.write(`Token ${id} is revoked.\n`)
      }),
    )
}

async function withStorage(
  database: string | undefined,
  use: (storage: Storage) => Promise<void>,
): Promise<void> {
  const config = readConfig(database === undefined ? {} : { database })
  const storage = await openStorage(config.database, { ...config, mustExist: true })
  try {
    await use(storage)
  } finally {
    await storage.close()
  }
}

function wantedToken({ label, scope, expiresInDays }: CreateFlags) {
  const scopes = scope.flatMap((text) => text.split(','))
  if (expiresInDays === undefined) return parseNewToken({ label, scopes }, Date.now())
  if (!/^[1-9]\d{0,4}$/.test(expiresInDays)) {
    throw new SetupError(`--expires-in-days must be a whole number from 1 to 99999, not "${expiresInDays}".`)
  }
  const expiresAt = new Date(Date.now() + Number(expiresInDays) * DAY_MS).toISOString()
  return parseNewToken({ label, scopes, expiresAt }, Date.now())
}

function tokenTable(tokens: readonly StoredToken[]): string {
  const time = (timeMs: number | undefined, absent: string) =>
    timeMs === undefined ? absent : new Date(timeMs).toISOString().slice(0, 16).replace('T', ' ')
  const rows = [
    ['ID', 'CREATED', 'EXPIRES', 'LAST USED', 'SCOPES', 'LABEL'],
    ...tokens.map(({ id, createdAtMs, expiresAtMs, lastUsedAtMs, scopes, label }) => [
      id,
      time(createdAtMs, ''),
      time(expiresAtMs, 'never'),
      time(lastUsedAtMs, 'never'),
      scopes.join(' '),
      label,
    ]),
  ]
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
