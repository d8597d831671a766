import type { Mutant } from './mutant.ts'

const ISOLATION = 'test/e2e/sources/isolation.test.ts'
const SOURCE_ISOLATION = 'test/nightly/sources/source-isolation.test.ts'

/** Isolation of decoders: limits for an attacker who has taken over a decoder. */
export const isolationMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/sources/isolation/seccomp-filter.ts',
    before: 'return filter(architecture, rules, FAIL | EPERM)',
    after: 'return filter(architecture, rules, ALLOW)',
    rows: ['the user who runs this test can open no file or socket'], test: ISOLATION,
  },
  {
    file: 'infrastructure/sources/isolation/seccomp-filter.ts',
    before: '...allowedFor(kill, WHOLE_WORD, pid),',
    after: '...answerFor(kill, ALLOW),',
    rows: ['the user who runs this test can open no file or socket'], test: ISOLATION,
  },
  {
    file: 'infrastructure/sources/isolation/seccomp-filter.ts',
    before: '...allowedFor(clone, CLONE_THREAD | CLONE_NEW_NAMESPACES, CLONE_THREAD),',
    after: '...answerFor(clone, ALLOW),',
    rows: ['the user who runs this test can open no file or socket'], test: ISOLATION,
  },
  {
    file: 'infrastructure/sources/isolation/confine.ts',
    before: "'uint', SECCOMP_FILTER_FLAG_TSYNC, Program",
    after: "'uint', 0, Program",
    rows: ['the user who runs this test can open no file or socket'], test: ISOLATION,
  },
  {
    file: 'infrastructure/sources/child-commands.ts',
    before: "...(isolate ? ['isolated'] : []), ",
    after: '',
    rows: ['the user who runs this test can open no file or socket'], test: ISOLATION,
  },
  {
    file: 'infrastructure/sources/child-commands.ts',
    before: "'--permission', ...flags",
    after: '...flags.slice(flags.length)',
    rows: ['the process that holds the sockets of a source reads no file'], test: ISOLATION,
  },
  {
    file: 'infrastructure/sources/isolation/start-without-io-uring.ts',
    before: '  refuseIoUring()\n',
    after: '',
    rows: ['the decoder of a URL source holds only its own pipes'], test: SOURCE_ISOLATION,
  },
  {
    file: 'infrastructure/sources/isolation/start-without-io-uring.ts',
    before: '  closeFilesAtExec()\n',
    after: '',
    rows: ['the decoder of a URL source holds only its own pipes'], test: SOURCE_ISOLATION,
  },
  {
    file: 'infrastructure/sources/source-isolation.ts',
    before: '{ isolate: true, pulls: false,',
    after: '{ isolate: true, pulls: true,',
    rows: ['without isolation the service warns, and pulls URLs unless'], test: SOURCE_ISOLATION,
  },
  {
    file: 'infrastructure/sources/puller/puller-client.ts',
    before: '    if (!isolation.pulls) return refusing(events)\n',
    after: '',
    rows: ['without isolation the service warns, and pulls URLs unless'], test: SOURCE_ISOLATION,
  },
  {
    file: 'interfaces/compose/sources.ts',
    before: "    if (!pulls) return { _tag: 'SourcesNotIsolated' }\n",
    after: '',
    rows: ['without isolation the service warns, and pulls URLs unless'], test: SOURCE_ISOLATION,
  },
  {
    file: 'interfaces/compose/sources.ts',
    before: 'if (problem !== null) logger.warn',
    after: 'if (problem === null) logger.warn',
    rows: ['the start, the doctor and the metric report isolation that is off'], test: SOURCE_ISOLATION,
  },
  {
    file: 'interfaces/cli/doctor/environment-checks.ts',
    before: "name: 'decoders', ok: problem === null",
    after: "name: 'decoders', ok: problem !== ''",
    rows: ['the start, the doctor and the metric report isolation that is off'], test: SOURCE_ISOLATION,
  },
  {
    file: 'interfaces/compose/health.ts',
    before: 'observed.isolation.problem === null',
    after: "observed.isolation.problem !== ''",
    rows: ['the start, the doctor and the metric report isolation that is off'], test: SOURCE_ISOLATION,
  },
]
