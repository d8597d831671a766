import type { Mutant } from './mutant.ts'

const STORES = 'test/e2e/cli/stores.test.ts'
const LIVE_REPORT = 'test/unit/cli/live-report.test.ts'
const WORD_ALIGNMENT = 'test/unit/domain/word-alignment.test.ts'
const TABLE = 'test/unit/cli/table.test.ts'
const COMMANDS = 'test/e2e/cli/commands.test.ts'
const STATUS_LINE = 'test/unit/cli/status-line.test.ts'
const LOGGER = 'test/unit/infrastructure/logger.test.ts'
const SETTINGS = 'test/unit/infrastructure/settings.test.ts'
const TRANSCRIBE = 'test/e2e/service/sessions/transcribe.test.ts'

/** The command line: exit codes, backups and reports. */
export const commandLineMutants: ReadonlyArray<Mutant> = [
  {
    file: 'interfaces/cli/main.ts',
    before: '    return 2\n',
    after: '    return 0\n',
    rows: ['a usage error exits with 2 and the next step, and help exits with 0'], test: STORES,
  },
  {
    file: 'interfaces/cli/main.ts',
    before: 'error instanceof CommandError ? error.exitCode : 1',
    after: '1',
    rows: ['a usage error exits with 2 and the next step, and help exits with 0'], test: STORES,
  },
  {
    file: 'interfaces/cli/stores/backup-manifest.ts',
    before: 'if (actual !== digest) throw',
    after: "if (actual === '') throw",
    rows: ['an incomplete, changed or newer backup is refused'], test: STORES,
  },
  {
    file: 'interfaces/cli/stores/backup-manifest.ts',
    before: 'if (found.files[name] === undefined) throw',
    after: "if (name === '') throw",
    rows: ['an incomplete, changed or newer backup is refused'], test: STORES,
  },
  {
    file: 'interfaces/cli/stores/backup-manifest.ts',
    before: 'if (found.format > BACKUP_FORMAT)',
    after: 'if (found.format < 0)',
    rows: ['an incomplete, changed or newer backup is refused'], test: STORES,
  },
  {
    file: 'interfaces/cli/stores/backup-manifest.ts',
    before: 'return differing >= 0 && (theirs',
    after: 'return differing > 0 && (theirs',
    rows: ['an incomplete, changed or newer backup is refused'], test: STORES,
  },
  {
    file: 'interfaces/cli/stores/backup.ts',
    before: '{ recursive: true, mode: 0o700 }',
    after: '{ recursive: true }',
    rows: ['a backup is complete and private to its owner, and restore refuses to overwrite used data'], test: STORES,
  },
  {
    file: 'interfaces/cli/stores/backup.ts',
    before: '  return 1\n',
    after: '  return 0\n',
    rows: ['the backup of a damaged log is written'], test: STORES,
  },
  {
    file: 'interfaces/cli/stores/restore.ts',
    before: 'if (present.length > 0 && !isAllowed)',
    after: 'if (present.length < 0)',
    rows: ['a backup is complete and private to its owner, and restore refuses to overwrite used data'], test: STORES,
  },
  {
    file: 'interfaces/cli/stores/restore.ts',
    before: 'if (problems.length > 0)',
    after: 'if (problems.length < 0)',
    rows: ['a backup with a different master key is not restored'], test: STORES,
  },
  {
    file: 'interfaces/cli/stores/restoring/restore-files.ts',
    before: 'eraseKeys(copyOf(KEYRING_FILE), report.erasedKeys)',
    after: 'report.erasedKeys.length',
    rows: ['a backup is complete and private to its owner, and restore refuses to overwrite used data'], test: STORES,
  },
  {
    file: 'interfaces/cli/stores/restoring/restore-files.ts',
    before: '    await rm(target(UNFINISHED_RESTORE))\n',
    after: '',
    rows: ['a backup is complete and private to its owner, and restore refuses to overwrite used data'], test: STORES,
  },
  {
    file: 'application/log/read-undamaged.ts',
    before: 'lost.push({ stream, revision, reason: found.left.reason })',
    after: '',
    rows: ['the other events of a stream with a damaged event are read, and the lost event is named'], test: STORES,
  },
  {
    file: 'application/log/read-undamaged.ts',
    before: "if (whole.left._tag === 'StoreUnavailable') return E.left(whole.left)",
    after: '',
    rows: ['the other events of a stream with a damaged event are read, and the lost event is named'], test: STORES,
  },
  {
    file: 'interfaces/cli/stores/export.ts',
    before: 'return lost.length === 0 ? 0 : 1',
    after: 'return 0',
    rows: ['the other events of a stream with a damaged event are read, and the lost event is named'], test: STORES,
  },
  {
    file: 'interfaces/cli/streaming/live-report.ts',
    before: 'Math.ceil(share * sorted.length) - 1',
    after: 'Math.floor(share * sorted.length)',
    rows: ['a word is displayed when a frame first shows it; a phrase is final with its last word'], test: LIVE_REPORT,
  },
  {
    file: 'domain/transcript/word-alignment.ts',
    before: 'at(row, column - 1) + 1)',
    after: 'at(row, column - 1) + 2)',
    rows: ['a substitution, an insertion and a deletion are one error each'], test: WORD_ALIGNMENT,
  },
  {
    file: 'interfaces/cli/table.ts',
    before: '[\\p{Cc}\\p{Cf}\\u2028\\u2029]',
    after: '[\\p{Cc}\\u2028\\u2029]',
    rows: ['foreign text cannot move the cursor or start a line'], test: TABLE,
  },
  {
    file: 'interfaces/cli/commands/read-arguments.ts',
    before: 'if (values.length > 1 && isRepeatable !== true',
    after: 'if (values.length > 9 && isRepeatable !== true',
    rows: ['stenolog transcribe a.wav --model a --model b is refused'], test: COMMANDS,
  },
  {
    file: 'interfaces/cli/commands/read-arguments.ts',
    before: 'if (!found.form.options.includes(name))',
    after: "if (name === '')",
    rows: ['stenolog lives finish 7 --user ada is refused'], test: COMMANDS,
  },
  {
    file: 'interfaces/cli/commands/read-arguments.ts',
    before: '(!inlineValue && /^-[^\\d]/.test(value))',
    after: '(!inlineValue && /^-{9}/.test(value))',
    rows: ['stenolog transcribe a.wav --model --json is refused'], test: COMMANDS,
  },
  {
    file: 'interfaces/cli/commands/help.ts',
    before: 'const WIDTH = 80',
    after: 'const WIDTH = 84',
    rows: ['80 columns wide'], test: COMMANDS,
  },
  {
    file: 'domain/shared/nearest-name.ts',
    before: 'isSwapped ? at(steps',
    after: '!isSwapped && false ? at(steps',
    rows: ['a similar name is suggested, a different one is not'], test: COMMANDS,
  },
  {
    file: 'interfaces/command-error.ts',
    before: 'if (/^(?:error|hint): /.test(line)) return line',
    after: "if (line === '') return line",
    rows: ['a multi-line error keeps the reasons of a service that did not start'], test: COMMANDS,
  },
  {
    file: 'interfaces/cli/status-line.ts',
    before: 'if (!stream.isTTY || (',
    after: 'if ((',
    rows: ['without a terminal nothing is written'], test: STATUS_LINE,
  },
  {
    file: 'interfaces/cli/status-line.ts',
    before: 'now() - last.at < UPDATE_INTERVAL_MS',
    after: 'now() - last.at < 0',
    rows: ['a terminal gets one line that is overwritten, fits the width and is removed at the end'], test: STATUS_LINE,
  },
  {
    file: 'infrastructure/node/readable-log.ts',
    before: '[\\p{Cc}\\p{Cf}\\u2028\\u2029]',
    after: '[\\p{Cf}\\u2028\\u2029]',
    rows: ['on a terminal the log is readable lines, and foreign text cannot move the cursor'], test: LOGGER,
  },
  {
    file: 'infrastructure/settings.ts',
    before: '/[@?#\\p{C}]/u.test(text) || ',
    after: '',
    rows: ['a wrong value is shown in the error unless it may be secret'], test: SETTINGS,
  },
  {
    file: 'interfaces/cli/streaming/transcript-file.ts',
    before: "case '.vtt':\n      return toWebVtt",
    after: "case '.vtt':\n      return toSubRip",
    rows: ['a transcript file that ends with .VTT has the format of its ending'],
    test: 'test/unit/cli/transcript-file.test.ts',
  },
  {
    file: 'interfaces/cli/streaming/transcribe.ts',
    before: 'if (!models.includes(options.model)) throw',
    after: 'if (models.length === 0) throw',
    rows: ['an unknown model prints the command that installs it'],
    test: 'test/nightly/cli/transcribe.test.ts',
  },
  {
    file: 'interfaces/cli/streaming/transcribe.ts',
    before: 'if (options.output !== undefined) await requireFolderOf(options.output)',
    after: '',
    rows: ['transcribe reports an impossible output before it transcribes'], test: TRANSCRIBE,
  },
]
