import { readFileSync } from 'node:fs'
import test from 'ava'
import { problems } from '../../../interfaces/console/messages/english/frame.ts'
import { speak } from '../../../interfaces/console/messages/english/speak.ts'
import { exampleResponse, REFUSAL_TAGS } from '../../../interfaces/http/errors.ts'
import { ERROR_CODES } from '../../../interfaces/ws/frames.ts'

const page = readFileSync('docs/operate/troubleshooting.md', 'utf8')

/** The values that the messages have on the page. */
const EXAMPLES: Readonly<Record<string, string>> = { maximum: '10', code: '1011' }

const withExamples = (message: string): string =>
  message.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => EXAMPLES[name] ?? placeholder)

/** Returns the first words of a message, enough to find it on the page. */
const beginning = (message: string): string => /^[^.:(;,]{8,}?(?=[.:(;,]|$)|^.*$/.exec(message)?.[0].trim() ?? message

const unexplained = (messages: ReadonlyArray<string>): ReadonlyArray<string> =>
  messages.filter((message) => !page.toLowerCase().includes(beginning(message).toLowerCase()))

test('the page explains every error of the REST interface', (t) => {
  const details = REFUSAL_TAGS.flatMap((tag) => {
    const { detail } = exampleResponse(tag).body
    return typeof detail === 'string' ? [detail] : detail.map(({ msg }) => msg)
  })
  t.true(details.length > 40)
  t.deepEqual(unexplained(details.map((detail) => detail.replace('Value error, ', ''))), [])
})

test('the page explains every error of the WebSocket', (t) => {
  t.deepEqual(unexplained(ERROR_CODES), [])
})

test('the page explains every problem that the console shows', (t) => {
  const shown = Object.entries(speak).flatMap(([name, text]) =>
    /^(?:mic|end)_(?!.*help|choose)/.test(name) ? [text] : [],
  )
  const { request_id: _, ...others } = problems
  t.deepEqual(unexplained([...shown, ...Object.values(others)].map(withExamples)), [])
})

test('the check reports a message without an explanation', (t) => {
  t.deepEqual(unexplained(['Model not found', 'The flux has no capacity: 7']), ['The flux has no capacity: 7'])
})
