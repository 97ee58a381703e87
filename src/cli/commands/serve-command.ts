import { closeSync, openSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { flagOf, readConfig, type SettingName, variableOf } from '../../config/read-config.ts'
import { SETTINGS } from '../../config/settings.ts'
import type { RunningService } from '../../serve.ts'
import { describeDatabase } from '../../storage/open-storage.ts'
import { EXIT_INTERRUPTED } from '../output/command-failure.ts'
import { goOnWithoutOutput } from '../output/standard-output.ts'
import { choiceOption } from './command-values.ts'
import { notifySystemdReady } from './notify-systemd.ts'

/** `plantstore serve`: every setting is a flag. */
export function addServeCommand(program: Command): void {
  const command = program
    .command('serve')
    .description('run the service')
    .addHelpText(
      'after',
      '\nEach setting can be given as an environment variable instead: --port as PLANTSTORE_PORT.\nPLANTSTORE_FIXED_TOKEN, one fixed token with every scope, only so.\n\nExample:\n  plantstore serve --port 8080 --database data/plantstore.db',
    )
  for (const [name, setting] of Object.entries(SETTINGS)) {
    // A secret on the command line could be read in the list of processes.
    if (setting.type === 'secret') continue
    command.addOption(optionOf(name as SettingName, setting))
  }
  command.action(async (flags: Partial<Record<SettingName, string | boolean>>) => {
    // The service is there for others than those who read what it says.
    goOnWithoutOutput()
    const config = readConfig(flags)
    // Here and not above: other commands, help and wrong settings need not wait for all of HTTP to be loaded.
    const [{ createLog }, { serve }] = await Promise.all([import('../../log.ts'), import('../../serve.ts')])
    const log = await createLog(config.logLevel)
    let running: RunningService | undefined
    // Before anything else: it would end the process.
    process.on('SIGHUP', () => {
      if (isTerminalGone()) endByHangUp()
      else void running?.reload()
    })
    const service = await serve(config, log)
    running = service
    // Before anybody is told that it serves, and may want it to end.
    const isAskedToStop = untilAskedToStop()
    greet(service)
    const { url, socket } = service
    log.info(
      { ...(socket === undefined ? { url } : { socket }), database: describeDatabase(config.database) },
      'serving',
    )
    // After the first token: who has waited for the start looks for it in the log.
    void notifySystemdReady(config.notifySocket, log)
    log.info({ signal: await isAskedToStop }, 'stopping')
    await service.stop()
    log.info('stopped')
    // A request to a collector of traces that does not answer would keep the process for seconds.
    process.exit()
  })
}

function optionOf(name: SettingName, setting: (typeof SETTINGS)[SettingName]): Option {
  const preset = 'default' in setting && setting.default !== false ? ` (default: ${setting.default})` : ''
  const about = `${setting.about}${preset} [${variableOf(name)}]`
  const flag = flagOf(name)
  if (setting.type === 'choice') return choiceOption(`${flag} <word>`, about, setting.choices)
  // One that is on by default needs a word to turn it off.
  if (setting.type === 'boolean') {
    return setting.default
      ? choiceOption(`${flag} <word>`, about, ['true', 'false'])
      : new Option(flag, about)
  }
  return new Option(`${flag} <${name === 'database' ? 'file or URL' : setting.type}>`, about)
}

/** What a person at the terminal needs next: where the service is, and a line that adds the first plant. */
function greet({ url, socket, firstToken }: RunningService): void {
  const curl = socket === undefined ? 'curl' : `curl --unix-socket ${shellQuoted(socket)}`
  process.stdout.write(
    socket === undefined
      ? `Plant Store is at ${url} (API reference: ${url}/docs)\n`
      : `Plant Store is at the socket ${socket} (try: ${curl} ${url}/healthz)\n`,
  )
  if (firstToken === undefined) return
  process.stdout.write(`
This store had no token, so here is one with every scope. It is shown this once:

  ${firstToken}

Add the first plant:

  ${curl} ${url}/plants -H 'Authorization: Bearer ${firstToken}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Quercus robur","tag":"tree"}'

`)
}

function shellQuoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Whether SIGHUP came because the terminal was closed that the service runs in, not from who wants it to read anew. */
function isTerminalGone(): boolean {
  if (!process.stderr.isTTY) return false
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return false
  } catch {
    return true
  }
}

/** As if nobody had listened: there is nobody left to tell. */
function endByHangUp(): void {
  process.removeAllListeners('SIGHUP')
  process.kill(process.pid, 'SIGHUP')
}

/** Fulfils with SIGTERM or SIGINT when one comes; a second one, of either kind, ends the process at once. */
function untilAskedToStop(): Promise<NodeJS.Signals> {
  const asked = Promise.withResolvers<NodeJS.Signals>()
  let isAsked = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isAsked) process.exit(EXIT_INTERRUPTED)
      isAsked = true
      asked.resolve(signal)
    })
  }
  return asked.promise
}
