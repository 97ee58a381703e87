import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { createLog } from '../src/log.ts'

async function loggedText(log: (logger: Awaited<ReturnType<typeof createLog>>) => void): Promise<string> {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true })
  log(await createLog('info', stream))
  stream.end()
  return (await stream.toArray()).join('')
}

test('on a terminal a log line has local time, level, message and members', async () => {
  const text = await loggedText((log) => log.warn({ port: 8080, name: 'Rosa canina' }, 'serving'))
  assert.match(text, /^\d\d:\d\d:\d\d\.\d{3} WARN serving port=8080 name="Rosa canina"\n$/)
})

test('on a terminal an error is logged with its stack, and nothing controls the terminal', async () => {
  const text = await loggedText((log) =>
    log.error({ err: new Error('a\u009b2Jb'), id: '\u001b[2J' }, 'failed'),
  )
  assert.match(text, /^\S+ ERROR failed id="\\u001b\[2J"\n {4}Error: a\\u009b2Jb\n {4} {4}at /)
  assert.doesNotMatch(text.replaceAll('\n', ''), /\p{Cc}/u)
})
