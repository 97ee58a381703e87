import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labelled, scaleEnd, timelineOf } from '../../web/app/collection/periods.ts'

const NOW = '2026-11-28T10:15:00.000Z'
const DAY_MS = 86_400_000
const daysAgo = (days: number) => new Date(Date.parse(NOW) - days * DAY_MS).toISOString().slice(0, 10)
const dayOf = (timeMs: number) => new Date(timeMs).toISOString().slice(0, 10)

test('the unit depends on the age of the first plant, and there are 60 bars at most', () => {
  for (const [days, unit, bars] of [
    [0, 'day', 7],
    [59, 'day', 60],
    [60, 'week', 9],
    [418, 'week', 60],
    [419, 'month', 14],
    [1826, 'year', 6],
    [20_785, 'year', 57],
  ] as const) {
    const { unit: found, periods } = timelineOf([{ day: daysAgo(days), count: 1 }], NOW)
    assert.deepEqual([found, periods.length], [unit, bars], `${days} days`)
  }
  const { periods } = timelineOf([{ day: '0001-01-01', count: 1 }], NOW)
  assert.ok(periods.length <= 60, `${periods.length}`)
})

test('periods are adjacent, and every plant is in one', () => {
  for (const days of [0, 6, 59, 60, 200, 418, 419, 1500, 1826, 3650, 30_000, 700_000]) {
    const counts = [days, Math.ceil(days / 2), 0].map((ago, at) => ({ day: daysAgo(ago), count: 10 ** at }))
    const { periods } = timelineOf(counts, NOW)
    assert.equal(
      periods.reduce((sum, { count }) => sum + count, 0),
      111,
      `${days} days`,
    )
    periods.forEach(({ endMs }, at) => {
      assert.equal(periods[at + 1]?.beginMs ?? endMs, endMs)
    })
    assert.equal((periods[0]?.count ?? 0) % 10, days > 0 ? 1 : 0, `${days} days: the first is in the first`)
    assert.ok((periods.at(-1)?.count ?? 0) >= 100)
    assert.ok((periods.at(-1)?.endMs ?? 0) > Date.parse(NOW))
  }
})

test('weeks begin on Monday, months on the first and years on New Year, in UTC', () => {
  const begins = (days: number) =>
    timelineOf([{ day: daysAgo(days), count: 1 }], NOW).periods.map((one) => dayOf(one.beginMs))
  for (const day of begins(200)) assert.equal(new Date(day).getUTCDay(), 1, day)
  assert.deepEqual(begins(200).slice(-2), ['2026-11-16', '2026-11-23'])
  assert.deepEqual(begins(500).slice(0, 3), ['2025-07-01', '2025-08-01', '2025-09-01'])
  assert.deepEqual(
    begins(1826),
    ['2021', '2022', '2023', '2024', '2025', '2026'].map((year) => `${year}-01-01`),
  )
})

test('a plant newer than the count, because clocks differ, is in the chart', () => {
  const { periods } = timelineOf([{ day: '2026-12-01', count: 3 }], NOW)
  assert.deepEqual([dayOf(periods.at(-1)?.beginMs ?? 0), periods.at(-1)?.count], ['2026-12-01', 3])
})

test('the scale ends at a round number above the highest bar, and its middle is a whole number', () => {
  for (const [greatest, end] of [
    [1, 1],
    [2, 2],
    [3, 4],
    [5, 6],
    [9, 10],
    [10, 10],
    [11, 20],
    [61, 80],
    [99, 100],
    [100, 100],
    [145, 200],
    [9_500_000, 10_000_000],
  ] as const) {
    assert.equal(scaleEnd(greatest), end, `${greatest}`)
  }
})

test('labels are spread evenly, those of months over the year', () => {
  for (const days of [0, 30, 59, 60, 200, 418, 419, 900, 1500, 1826, 20_000]) {
    const timeline = timelineOf([{ day: daysAgo(days), count: 1 }], NOW)
    const labels = labelled(timeline, 6)
    assert.ok(labels.length >= 2 && labels.length <= 7, `${days} days: ${labels}`)
    assert.equal(new Set(labels.slice(1).map((at, index) => at - (labels[index] ?? 0))).size, 1)
  }
  const threeYears = timelineOf([{ day: daysAgo(1100), count: 1 }], NOW)
  assert.deepEqual(
    labelled(threeYears, 6).map((at) => dayOf(threeYears.periods[at]?.beginMs ?? 0)),
    ['2024-01-01', '2024-07-01', '2025-01-01', '2025-07-01', '2026-01-01', '2026-07-01'],
  )
})
