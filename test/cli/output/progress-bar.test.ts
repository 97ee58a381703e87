import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byteSize, type Progress, progressLine, wholeNumber } from '../../../src/cli/output/progress-bar.ts'

const half: Progress = { done: 50, total: 100, rows: 1_000, errors: 1 }
const at = (width: number) => ({ done: '50 B of 100 B', elapsedMs: 10_000, rowsPerSecond: 1_234.5, width })

test('the bar shows bytes, rows a second, errors and the remaining time', () => {
  assert.equal(
    progressLine('importing', half, at(120)),
    'importing  [===============---------------]  50 %  50 B of 100 B  1,235 rows/s  1 error  0:10 left',
  )
})

test('a narrow terminal shortens the bar, then hides it, and the line never breaks', () => {
  assert.match(progressLine('importing', half, at(84)), /^importing {2}\[=+-+\] {2}50 %/)
  assert.equal(
    progressLine('importing', half, at(70)),
    'importing  50 %  50 B of 100 B  1,235 rows/s  1 error  0:10 left',
  )
  for (let width = 10; width < 130; width++) {
    assert.ok(progressLine('importing', half, at(width)).length < width, String(width))
  }
})

test('without a known total, no percentage and no remaining time is shown', () => {
  assert.equal(
    progressLine('exporting', { done: 50, rows: 10 }, { ...at(120), done: '50 B' }),
    'exporting  50 B  1,235 rows/s',
  )
  assert.equal(
    progressLine('importing', { done: 0, total: 100, rows: 0 }, { ...at(120), rowsPerSecond: 0 }),
    `importing  [${'-'.repeat(30)}]  0 %  50 B of 100 B  0 rows/s`,
  )
})

test('the end is the whole bar, even if there was more than the total', () => {
  const line = progressLine('importing', { done: 120, total: 100, rows: 1 }, at(120))
  assert.match(line, /\[={30}\] {2}100 % .* 0:00 left$/)
})

test('sizes and numbers are short and readable', () => {
  assert.deepEqual([0, 999, 1_000, 12_345, 999_499, 999_500, 1_234_567_890, 5e15].map(byteSize), [
    '0 B',
    '999 B',
    '1.0 kB',
    '12.3 kB',
    '999 kB',
    '1.0 MB',
    '1.2 GB',
    '5000 TB',
  ])
  assert.equal(wholeNumber(1_234_567.6), '1,234,568')
})
