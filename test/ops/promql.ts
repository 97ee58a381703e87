import assert from 'node:assert/strict'
import { parser } from '@prometheus-io/lezer-promql'

/** One condition on a label, as `status=~"5.."` is. */
export interface Matcher {
  label: string
  operator: string
  value: string
}

export interface Selector {
  metric: string
  matchers: Matcher[]
}

/** What an expression asks for: its selectors, and the labels that it groups by. Fails where it is no PromQL. */
export function readPromQl(expression: string): { selectors: Selector[]; grouping: string[] } {
  const selectors: Selector[] = []
  const grouping: string[] = []
  const cursor = parser.parse(expression).cursor()
  const text = () => expression.slice(cursor.from, cursor.to)
  let matcher: Matcher = { label: '', operator: '', value: '' }
  let isGrouping = false
  do {
    assert.ok(!cursor.type.isError, `No PromQL at ${cursor.from}: ${expression}`)
    if (cursor.name === 'VectorSelector') selectors.push({ metric: '', matchers: [] })
    const selector = selectors.at(-1)
    if (cursor.name === 'Identifier' && selector !== undefined) selector.metric = text()
    if (cursor.name === 'GroupingLabels') isGrouping = true
    if (cursor.name === 'FunctionCallBody') isGrouping = false
    if (cursor.name === 'LabelName' && isGrouping) grouping.push(text())
    if (cursor.name === 'UnquotedLabelMatcher') {
      isGrouping = false
      matcher = { label: '', operator: '', value: '' }
      selector?.matchers.push(matcher)
    }
    if (cursor.name === 'LabelName' && !isGrouping) matcher.label = text()
    if (cursor.name === 'MatchOp') matcher.operator = text()
    if (cursor.name === 'StringLiteral') matcher.value = text().slice(1, -1)
  } while (cursor.next())
  assert.ok(selectors.length > 0 && selectors.every(({ metric }) => metric !== ''), expression)
  return { selectors, grouping }
}
