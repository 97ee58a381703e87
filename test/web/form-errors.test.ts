import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FieldError, RequestError } from '../../src/client/plant-store-client.ts'
import { formErrorsOf } from '../../web/app/parts/form-errors.ts'

const FIELDS = ['id', 'name', 'tag'] as const
const MESSAGE = 'The plant is not valid.'

/** The error of a request whose fields the service rejected. */
function rejection(fields: readonly Pick<FieldError, 'name' | 'rule'>[]): RequestError {
  const details = { fields: fields.map((field) => ({ message: MESSAGE, ...field })) }
  return new RequestError(MESSAGE, { kind: 'service', status: 400, code: 40003, details })
}

/** The texts of the rules that only the service checks. */
const RULE_TEXTS: Partial<Record<FieldError['rule'], string>> = {
  required: 'This is required.',
  'well-formed': 'This contains a character that cannot be stored. Type the text again.',
  'single-line': 'This must be a single line.',
  'max-length': 'This is too long. Shorten it.',
  unique: 'This is already used. Choose another one.',
  future: 'This must be in the future. Choose a later time.',
}

for (const [rule, text] of Object.entries(RULE_TEXTS) as [FieldError['rule'], string][]) {
  test(`the rule ${rule} has a text of the web app, beside its field`, () => {
    assert.deepEqual(formErrorsOf(rejection([{ name: 'name', rule }]), FIELDS), { name: text })
  })
}

test('a rule without a text shows the message of the service for the whole form', () => {
  assert.deepEqual(formErrorsOf(rejection([{ name: 'name', rule: 'one-of' }]), FIELDS), { '': MESSAGE })
})

test('a rule that this version of the web app does not know shows the message of the service', () => {
  const unknown = 'a-later-rule' as FieldError['rule']
  assert.deepEqual(formErrorsOf(rejection([{ name: 'name', rule: unknown }]), FIELDS), { '': MESSAGE })
})

test('a field that the form does not have shows the message of the service', () => {
  assert.deepEqual(formErrorsOf(rejection([{ name: 'height', rule: 'required' }]), FIELDS), { '': MESSAGE })
  assert.deepEqual(formErrorsOf(rejection([{ name: 'name', rule: 'required' }]), []), { '': MESSAGE })
})

test('several fields have their texts each, and the form has the message for the rest', () => {
  const error = rejection([
    { name: 'tag', rule: 'max-length' },
    { name: 'name', rule: 'required' },
    { name: 'height', rule: 'min' },
  ])
  assert.deepEqual(formErrorsOf(error, FIELDS), {
    name: RULE_TEXTS.required,
    tag: RULE_TEXTS['max-length'],
    '': MESSAGE,
  })
})

test('of several rules of a field the first one is shown', () => {
  const error = rejection([
    { name: 'name', rule: 'single-line' },
    { name: 'name', rule: 'max-length' },
  ])
  assert.deepEqual(formErrorsOf(error, FIELDS), { name: RULE_TEXTS['single-line'] })
})

test('a failure without fields is shown for the whole form, with the delay of a retry', () => {
  const busy = new RequestError('Too many requests.', { kind: 'service', status: 429, retryAfterMs: 1_500 })
  assert.deepEqual(formErrorsOf(busy, FIELDS), { '': 'Too many requests. Try again in 2 seconds.' })
})

test('a lost connection says that the change may have been saved', () => {
  const lost = new RequestError('socket closed', { kind: 'connection', isOutcomeUnknown: true })
  assert.deepEqual(formErrorsOf(lost, FIELDS), {
    '': "Can't reach the server. Check your connection. Your change may or may not have been saved.",
  })
})

test('an error that is no failed request shows nothing of its internals', () => {
  const errors = formErrorsOf(new Error('x is not a function'), FIELDS)
  assert.deepEqual(errors, { '': 'Something went wrong. Reload the page.' })
})
