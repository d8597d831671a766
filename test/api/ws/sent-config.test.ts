import test from 'ava'
import { createAcceptedConfig } from '../../../interfaces/ws/relay/sent-config.ts'

/** Accepts the configs one after another, and returns the frame that they merge into. */
const merged = (configs: ReadonlyArray<readonly [body: object, isAfterAudio: boolean]>): unknown => {
  const config = createAcceptedConfig()
  configs.forEach(([body, isAfterAudio], i) => {
    config.passed({ number: i + 1, body: { type: 'config', ...body }, isAfterAudio })
    config.accepted(i + 1)
  })
  return JSON.parse(config.text() ?? 'null')
}

test('accepted configs merge into one frame: the last settings before audio and the newest vocabulary', (t) => {
  t.is(merged([]), null)
  t.deepEqual(merged([[{ max_chars: 40, prompt: 'a' }, false]]), { type: 'config', max_chars: 40, prompt: 'a' })
  t.deepEqual(
    merged([[{ max_chars: 40, prompt: 'a' }, false], [{ max_lines: 1 }, false]]),
    { type: 'config', max_lines: 1, prompt: 'a' },
  )
  t.deepEqual(
    merged([
      [{ max_chars: 40, prompt: 'a' }, false],
      [{ hotwords: ['b'] }, true],
      [{ prompt: null }, true],
      [{ prompt: 'c' }, true],
    ]),
    { type: 'config', max_chars: 40, prompt: 'c', hotwords: ['b'] },
  )
})

test('the merged config contains no refused or unanswered config', (t) => {
  const config = createAcceptedConfig()
  config.passed({ number: 1, body: { max_chars: 40 }, isAfterAudio: false })
  config.passed({ number: 2, body: { max_chars: 50 }, isAfterAudio: true })
  config.accepted(1)
  t.deepEqual(config.done(2), [])
  t.deepEqual(config.done(3), [2])
  config.accepted(2)
  t.is(config.text(), '{"type":"config","max_chars":40}')
})
