import test from 'ava'
import * as t from 'io-ts'
import { boundedInteger, boundedString } from '../../../domain/shared/codecs.ts'
import { describeSocket } from '../../../interfaces/description/asyncapi.ts'
import { createSchemas } from '../../../interfaces/description/json-schema.ts'
import { describeInterface } from '../../../interfaces/description/openapi.ts'
import {
  integerText, lastValue, members, omittable, optional, repeated,
} from '../../../interfaces/http/codecs/validation.ts'
import { ROUTES } from '../../../interfaces/http/route-table.ts'
import { createAnswerCheck, createFrameCheck, type ReceivedAnswer } from '../../support/service/description-checks.ts'

test('a codec becomes a schema with bounds, patterns, lists, null, optional members and defaults', (test) => {
  const schemas = createSchemas()
  const body = members({
    name: boundedString(1, 5, /^[a-z]+$/),
    count: optional(boundedInteger(0, 9), 3),
    kind: omittable(t.keyof({ a: null, b: null })),
  })
  test.deepEqual(schemas.of(body), {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 5, pattern: '^[a-z]+$' },
      count: { type: ['integer', 'null'], minimum: 0, maximum: 9, default: 3 },
      kind: { type: 'string', enum: ['a', 'b'] },
    },
    required: ['name'],
  })
  test.deepEqual(schemas.member(lastValue(optional(integerText(1, Infinity), 100))).schema, {
    type: 'integer',
    minimum: 1,
    default: 100,
  })
  test.deepEqual(schemas.of(repeated(t.boolean)), { type: 'array', items: { type: 'boolean' }, maxItems: 20 })
  const named = t.strict({ id: t.number }, 'Thing')
  test.deepEqual(schemas.of(t.union([named, t.null])), {
    anyOf: [{ $ref: '#/components/schemas/Thing' }, { type: 'null' }],
  })
  test.throws(() => schemas.of(t.strict({ id: t.string }, 'Thing')), { message: /Thing/ })
  test.throws(() => schemas.of(new t.Type('odd', t.string.is, t.string.validate, t.identity)), { message: /odd/ })
})

test('the answer check finds an undeclared status, header, type or member, and a missing member', (t) => {
  const check = createAnswerCheck(describeInterface(ROUTES) as never)
  const standard = { 'content-type': 'application/json', 'x-request-id': 'a', 'x-service-version': '1' }
  const answer = (
    members: Partial<ReceivedAnswer>,
    headers: Readonly<Record<string, string>> = {},
  ): ReceivedAnswer => ({
    method: 'GET',
    path: '/api/v1/version/?x=1',
    status: 200,
    text: '{"version":"0.6.2"}',
    headers: new Headers({ ...standard, ...headers }),
    ...members,
  })
  t.is(check(answer({})), null)
  t.is(check(answer({ path: '/nothing', status: 404 })), null, 'an answer of an unknown route is not checked')
  t.regex(check(answer({ status: 418 })) ?? '', /GET \/version answered 418.*status is not declared/)
  t.regex(check(answer({ text: '{"version":1}' })) ?? '', /must be string/)
  t.regex(check(answer({ text: '{"version":"0.6.2","secret":1}' })) ?? '', /additional/)
  t.regex(check(answer({ text: '{}' })) ?? '', /required/)
  t.regex(check(answer({}, { 'retry-after': '1' })) ?? '', /retry-after is not declared/)
  t.regex(check(answer({}, { 'content-type': 'text/html' })) ?? '', /text\/html is not declared/)
  t.regex(check(answer({ headers: new Headers({ 'content-type': 'application/json' }) })) ?? '', /X-Request-ID is null/)
})

test('the frame check finds an undescribed frame', (t) => {
  const check = createFrameCheck(describeSocket([]) as never)
  t.is(check({ status: 'started' }), null)
  t.is(check({ type: 'translation', start: 0, end: 1, text: 'hola', language: 'es', segment: 1, final: true }), null)
  for (const frame of [
    { status: 'stopped' },
    { status: 'started', more: 1 },
    { type: 'error', code: 'unknown', detail: '' },
    {},
  ])
    t.regex(check(frame) ?? '', /not in \/asyncapi/)
})
