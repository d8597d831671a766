import type { Mutant } from './mutant.ts'

const WORDS = 'test/unit/application/sessions/live-sessions-words.test.ts'
const SESSION_VOCABULARY = 'test/unit/application/sessions/live-sessions-vocabulary.test.ts'
const VOCABULARY = 'test/unit/application/lives/vocabulary.test.ts'
const LANGUAGE = 'test/unit/application/sessions/live-sessions-language.test.ts'
const CHOOSE_MODELS = 'test/unit/application/lives/choose-models.test.ts'
const ANSWERS = 'test/api/http/answers.test.ts'

/** Options of a transcript: word times, vocabulary, languages, translation into English. */
export const transcriptOptionMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/sessions/captions.ts',
    before: '...(settings().words === true && words !== undefined',
    after: '...(words !== undefined',
    rows: ['B43'], test: WORDS,
  },
  {
    file: 'domain/transcript/words.ts',
    before: 'start: thousandths(at(start))',
    after: 'start: thousandths(start)',
    rows: ['B43'], test: WORDS,
  },
  {
    file: 'domain/transcript/events.ts',
    before: "['text', 'words'],",
    after: "['text'],",
    rows: ['D59'], test: 'test/unit/domain/all-events.test.ts',
  },
  {
    file: 'application/sessions/session-machine.ts',
    before: 'if (!isEmpty(overrides) || isEmpty(vocabulary)) return',
    after: 'if (isEmpty(vocabulary)) return',
    rows: ['B44'], test: SESSION_VOCABULARY,
  },
  {
    file: 'application/sessions/record-vocabulary.ts',
    before: 'await pause(timers, SPACING_MS, signal)',
    after: '',
    rows: ['B44'], test: SESSION_VOCABULARY,
  },
  {
    file: 'domain/live/state.ts',
    before: 'return { ...live, vocabulary: event.data.vocabulary }',
    after: 'return live',
    rows: ['B44'], test: VOCABULARY,
  },
  {
    file: 'domain/live/events.ts',
    before: "['audioUrl', 'senderToken', 'listenerToken', 'vocabulary'],",
    after: "['audioUrl', 'senderToken', 'listenerToken'],",
    rows: ['B44'], test: VOCABULARY,
  },
  {
    file: 'projections/lives/projection.ts',
    before: 'return { ...live, vocabulary: event.data.vocabulary }',
    after: 'return live',
    rows: ['B44'], test: VOCABULARY,
  },
  {
    file: 'interfaces/http/codecs/settings-codec.ts',
    before: 'strict ? compatibleSettings.encode(settings) : ',
    after: '',
    rows: ['B43'], test: ANSWERS,
  },
  {
    file: 'application/sessions/record-finals.ts',
    before: 'language === AUTO_LANGUAGE ? UNDETERMINED : language',
    after: 'language',
    rows: ['B32'], test: LANGUAGE,
  },
  {
    file: 'application/translation/translations.ts',
    before: 'translators.find(({ from }) => from === language)',
    after: 'translators[0]',
    rows: ['B32'], test: LANGUAGE,
  },
  {
    file: 'application/lives/choose-models.ts',
    before: "if (config.task === 'translate' && !model.translates)",
    after: "if (config.task === 'translate' && model.languages.length === 0)",
    rows: ['B45'], test: CHOOSE_MODELS,
  },
  {
    file: 'domain/live/settings.ts',
    before: "task === 'translate' ? 'en' : spoken",
    after: 'spoken',
    rows: ['B45'], test: LANGUAGE,
  },
]
