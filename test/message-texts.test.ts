import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

/** Where errors of the service arrive. Programs read their code and details, and people their message. */
const FOLDERS = ['src/client', 'src/cli', 'web/app']

/** Methods of a string that look into it. */
const READING_METHOD =
  '(?:includes|startsWith|endsWith|match|matchAll|search|split|replace|replaceAll|indexOf|slice|at)'

/** Ways to read a text by which a program could decide. `message` stands for the text of an error. */
const READINGS: readonly RegExp[] = [
  new RegExp(`\\bmessage\\??\\.${READING_METHOD}\\(`),
  /(?<!typeof )\bmessage\s*[!=]==?/,
  /[!=]==?\s*(?:\w+\??\.)*message\b/,
  /\.(?:test|exec)\(\s*(?:String\(\s*)?(?:\w+\??\.)*message\b/,
  /\b(?:switch|if|while)\s*\(\s*!?\s*(?:\w+\??\.)*message\s*\)/,
  /\bcase\s+(?:\w+\??\.)*message\b/,
]

/**
 * Texts that are no message of a request: what the parser of a file reports of itself to people, line by line, and the
 * state of a view that holds a text of its own.
 */
const ALLOWED: readonly { file: string; line: string }[] = [
  // A failure that is printed already has no message; a text of several lines is written as several lines.
  { file: 'src/cli/program.ts', line: "if (error.message !== '')" },
  { file: 'src/cli/program.ts', line: "for (const line of error.message.split('\\n'))" },
  { file: 'web/app/plants/toolbar.tsx', line: "aria-invalid={message !== ''}" },
]

function readingsIn(text: string): string[] {
  return text.split('\n').filter((line) => READINGS.some((reading) => reading.test(line)))
}

const SOURCES = FOLDERS.flatMap((folder) =>
  readdirSync(new URL(`../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`),
)

test('client, command line and web app decide by code and details, never by the text of a message', () => {
  assert.ok(SOURCES.length > 100)
  for (const file of SOURCES) {
    const found = readingsIn(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')).filter(
      (line) => !ALLOWED.some((allowed) => allowed.file === file && line.includes(allowed.line)),
    )
    assert.deepEqual(found, [], file)
  }
})

test('every way to read a message is found, and showing one is not', () => {
  for (const line of [
    "if (error.message === 'Full.') return",
    "error.message.includes('encoding')",
    'for (const part of error.message.split("; "))',
    "return message.replace(/columns/, '--columns')",
    "message?.startsWith('The id')",
    'if (/stored/.test(error.message)) return',
    'ROWS_STORED.exec(String(error.message))',
    "'Full.' !== failure.message",
    'switch (error.message) {',
  ]) {
    assert.equal(readingsIn(line).length, 1, line)
  }
  for (const line of [
    'throw new CommandFailure(error.message)',
    "const shown = [kind === 'service' ? message : words[kind]]",
    'return error.message',
    'stderr.write(row + printable(message) + code)',
  ]) {
    assert.deepEqual(readingsIn(line), [], line)
  }
})

test('every exception is still needed', () => {
  for (const { file, line } of ALLOWED) {
    assert.ok(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8').includes(line), `${file}: ${line}`)
  }
})
