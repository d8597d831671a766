import type { Mutant } from './mutant.ts'

const CAPTIONS = 'test/e2e/service/sockets/captions.test.ts'
const CAPTION_SETTINGS = 'test/e2e/service/sockets/caption-settings.test.ts'
const LIMITS = 'application/pipeline/policy/policy-limits.ts'

/** Engine settings that are ignored or replaced. Transcripts of real speech show the difference. */
export const engineSettingMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/pipeline/live-pipeline.ts',
    before: 'if (!config.vad) {',
    after: 'if (config.vad === null) {',
    rows: ['D17'], test: CAPTION_SETTINGS,
  },
  {
    file: LIMITS,
    before: "const onlyFinals = settings.mode === 'final'",
    after: 'const onlyFinals = false',
    rows: [154], test: CAPTIONS,
  },
  {
    file: LIMITS,
    before: "const onlyFinals = settings.mode === 'final'",
    after: 'const onlyFinals = true',
    rows: [154], test: CAPTIONS,
  },
  {
    file: LIMITS,
    before: 'const wait = Math.min(settings.min_buffer, ',
    after: 'const wait = Math.min(1, ',
    rows: ['D17'], test: CAPTION_SETTINGS,
  },
  {
    file: LIMITS,
    before: 'const wait = Math.min(settings.min_buffer, ',
    after: 'const wait = Math.min(',
    rows: ['D17'], test: CAPTION_SETTINGS,
  },
  {
    file: LIMITS,
    before: 'Math.min(settings.max_buffer, windowSeconds - WINDOW_MARGIN_SECONDS)',
    after: 'Math.min(10, windowSeconds - WINDOW_MARGIN_SECONDS)',
    rows: [156], test: CAPTION_SETTINGS,
  },
  {
    file: LIMITS,
    before: 'maxDelay: inSamples(settings.max_delay),',
    after: 'maxDelay: inSamples(5),',
    rows: [156], test: CAPTION_SETTINGS,
  },
  {
    file: LIMITS,
    before: 'maxChars: settings.max_chars,',
    after: 'maxChars: 80,',
    rows: [157], test: CAPTION_SETTINGS,
  },
  {
    file: LIMITS,
    before: 'maxLines: settings.max_lines }',
    after: 'maxLines: 2 }',
    rows: [157], test: CAPTION_SETTINGS,
  },
  {
    file: LIMITS,
    before: 'punctuation: settings.punctuation,',
    after: 'punctuation: true,',
    rows: [158], test: CAPTION_SETTINGS,
  },
]
