import { existsSync } from 'node:fs'
import test from 'ava'
import { nearestName } from '../../../domain/shared/nearest-name.ts'
import { CommandError, errorLines } from '../../../interfaces/command-error.ts'
import { LIVES, TOKENS, USERS } from '../../../interfaces/cli/commands/accounts.ts'
import { partsOf } from '../../../interfaces/cli/commands/command.ts'
import { helpOf, helpOfAll } from '../../../interfaces/cli/commands/help.ts'
import { readArguments } from '../../../interfaces/cli/commands/read-arguments.ts'
import { LOG } from '../../../interfaces/cli/commands/stores.ts'
import { DEMO, MODELS, TRANSCRIBE } from '../../../interfaces/cli/commands/streaming.ts'
import { COMMANDS } from '../../../interfaces/cli/commands/table.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

for (const command of COMMANDS)
  test(`the help of ${command.name} is complete, 80 columns wide, and its examples are valid commands`, (t) => {
    const help = helpOf(command)
    t.deepEqual(help.split('\n').filter((line) => line.length > 80), [])
    t.true(help.startsWith(`stenolog ${command.name}: `))
    for (const title of ['Usage', 'Options', 'Examples']) t.true(help.split('\n').includes(title), title)
    for (const [name, { value, fallback }] of Object.entries(command.options)) {
      t.regex(help, new RegExp(`^ {2}--${name}${value === undefined ? ' ' : ` ${value}`}`, 'm'))
      if (fallback !== undefined) t.regex(help.replaceAll(/\s+/g, ' '), new RegExp(`default ${fallback}`))
    }
    for (const name of command.forms.flatMap((form) => partsOf(form).arguments))
      t.regex(help, new RegExp(`^ {2}${name.name} +\\S`, 'm'))
    const formOptions = new Set<string>(command.forms.flatMap(({ options }) => options))
    t.deepEqual([...formOptions].toSorted(), Object.keys(command.options).toSorted(), 'every option belongs to a form')
    t.true(existsSync(command.page), command.page)
    for (const example of command.examples) {
      const [name, ...args] = example.split(' ')
      t.is(name, command.name)
      if (!args.includes('--help')) t.notThrows(() => readArguments(command, args), example)
    }
  })

test('the general help is 80 columns wide and names each command once', (t) => {
  const lines = helpOfAll(COMMANDS).split('\n')
  t.deepEqual(lines.filter((line) => line.length > 80), [])
  for (const { name } of COMMANDS) t.is(lines.filter((line) => line.startsWith(`  ${name} `)).length, 1, name)
})

test('arguments are parsed by the command table: actions, arguments, options and defaults', (t) => {
  t.deepEqual(readArguments(TRANSCRIBE, ['a.wav', '--speed=max', 'b.wav', '--json']), {
    action: '', operands: ['a.wav', 'b.wav'],
    options: {
      model: 'demo-en', language: 'en', track: undefined, speed: 'max', mode: 'partial', output: undefined, json: true,
    },
  })
  const { action, operands, options } = readArguments(USERS, [
    'create',
    'ada',
    '--permission',
    'admin',
    '--permission',
    'user_retention',
  ])
  t.deepEqual([action, operands, options.permission], ['create', ['ada'], ['admin', 'user_retention']])
  t.deepEqual(readArguments(MODELS, ['verify']).operands, [])
  t.deepEqual(readArguments(MODELS, ['verify', 'a', 'b']).operands, ['a', 'b'])
})

const WRONG = [
  [TRANSCRIBE, [], 'stenolog transcribe needs FILE: an audio or video file in any format that FFmpeg reads.'],
  [TRANSCRIBE, ['a.wav', '--modle', 'base'], 'Unknown option --modle of stenolog transcribe. Did you mean --model?'],
  [TRANSCRIBE, ['a.wav', '-x'], 'Unknown option -x of stenolog transcribe.'],
  [TRANSCRIBE, ['a.wav', '--model', '--json'], '--model needs a value: --model NAME.'],
  [TRANSCRIBE, ['a.wav', '--model'], '--model needs a value: --model NAME.'],
  [TRANSCRIBE, ['a.wav', '--json=yes'], '--json takes no value.'],
  [TRANSCRIBE, ['a.wav', '--model', 'a', '--model', 'b'], '--model is given twice.'],
  [
    TRANSCRIBE,
    ['a.wav', '--mode', 'finale'],
    '--mode should be one of partial, final, not "finale". Did you mean final?',
  ],
  [
    TRANSCRIBE,
    ['a.wav', '--output', 'a.doc'],
    '--output should be a file name that ends with .srt, .vtt, .txt or .json, not "a.doc".',
  ],
  [DEMO, ['sample.wav'], 'stenolog demo does not accept the argument "sample.wav".'],
  [LIVES, [], 'stenolog lives needs an action: list, finish.'],
  [LIVES, ['lsit'], 'Unknown command "lives lsit". Did you mean stenolog lives list?'],
  [LIVES, ['finish', 'seven'], 'SESSION should be a number such as 7, but is "seven".'],
  [LIVES, ['list', '--status', 'over'], '--status should be one of pending, active, finished, error, not "over".'],
  [LIVES, ['finish', '7', '--user', 'ada'], '--user is not an option of stenolog lives finish.'],
  [LIVES, ['list', '--limit', '-1'], '--limit should be a whole number from 1, not "-1".'],
  [LOG, [], 'stenolog log needs an action: take-over.'],
  [
    TOKENS, ['create', 'ada', 'ci', '--expires', 'foo'],
    '--expires should be a time such as 2027-01-31T00:00:00Z, not "foo".',
  ],
  [USERS, ['create', 'caf\ufffd'], 'An argument is not text in UTF-8. Set the terminal to UTF-8.'],
  [USERS, ['create', 'ada', 'bob'], 'stenolog users create does not accept the argument "bob".'],
  [
    USERS, ['change', 'ada', '--max-sessions', '1.5'],
    '--max-sessions should be a whole number up to 1000000, not "1.5".',
  ],
] as const

for (const [command, args, message] of WRONG)
  test(`stenolog ${[command.name, ...args].join(' ')} is refused: ${message}`, (t) => {
    const error = t.throws(() => readArguments(command, args), { instanceOf: CommandError })
    t.is(errorLines(error), `error: ${message}\nhint: npm run stenolog -- ${command.name} --help`)
    t.is(error?.exitCode, 2)
  })

test('a similar name is suggested, a different one is not', (t) => {
  const names = ['MODELS_DIR', 'PORT', 'HOST', 'DATA_DIR']
  for (const [name, suggestion] of [
    ['MODEL_DIR', 'MODELS_DIR'],
    ['PROT', 'PORT'],
    ['port', 'PORT'],
    ['HSOT', 'HOST'],
    ['DATADIR', 'DATA_DIR'],
  ] as const)
    t.is(nearestName(name, names), suggestion)
  for (const distantName of ['', 'X', 'USER', 'MODELS', 'x'.repeat(100_000)])
    t.is(nearestName(distantName, names), undefined, distantName.slice(0, 9))
})

test('a multi-line error keeps the reasons of a service that did not start', (t) => {
  t.is(
    errorLines(new Error('The service did not start.\nerror: Port taken\nhint: another')),
    'error: The service did not start.\nerror: Port taken\nhint: another',
  )
  t.is(errorLines(new Error('broken'), 'a.wav'), 'error: a.wav: broken')
  t.is(errorLines(new Error('cannot read a.wav'), 'a.wav'), 'error: cannot read a.wav')
})

test('an error names its cause and the next step; the exit code is 2 for usage and 1 for failures', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const wrong = await stenolog(path, ['transcrbe'])
  t.deepEqual([wrong.code, wrong.stdout], [2, ''])
  t.regex(
    wrong.stderr,
    /^error: Unknown command "transcrbe"\. Did you mean transcribe\?\nhint: .*npm run stenolog -- --help\n$/,
  )
  const failed = await stenolog(path, ['check'], { MODEL_DIR: 'x', PORT: 'http' })
  t.is(failed.code, 1)
  t.regex(
    failed.stderr,
    /^error: Unknown setting STENOLOG_MODEL_DIR\. Did you mean STENOLOG_MODELS_DIR\?\nerror: STENOLOG_PORT .*\nhint: /,
  )
})

test('help COMMAND prints the help of the command', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const [helpCommand, helpOption] = await Promise.all(
    [['help', 'check'], ['check', '-h']].map((args) => stenolog(path, args)),
  )
  t.deepEqual(helpCommand, helpOption)
  t.is(helpCommand?.code, 0)
  t.regex(helpCommand?.stdout ?? '', /^stenolog check: /)
})
