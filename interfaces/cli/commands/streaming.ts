import { JSON_SWITCH } from './command.ts'
import type { Command } from './command.ts'

export const SERVE = {
  name: 'serve',
  purpose: 'run the service, as `npm start` does',
  about: [
    'The settings are environment variables STENOLOG_*. On a terminal the log is written for people, elsewhere as JSON lines. '
      + 'The first start prints a link that creates the first administrator.',
  ],
  forms: [{ words: '', options: [] }],
  arguments: {},
  options: {},
  examples: ['serve', 'serve --help'],
  page: 'docs/reference/settings.md',
} as const satisfies Command

export const DEMO = {
  name: 'demo',
  purpose: 'stream the bundled sample through a throw-away service',
  about: [
    'Streams a minute of synthetic speech in real time and shows the captions as a listener sees them, with Spanish under '
      + 'them where that translator is installed; then the transcript, its word error rate and the delays.',
  ],
  forms: [{ words: '', options: ['report', 'events'] }],
  arguments: {},
  options: {
    report: { value: 'FILE', meaning: 'also writes all figures to FILE, as JSON' },
    events: { meaning: 'also shows the session as the events that are stored' },
  },
  examples: ['demo', 'demo --events --report demo.json'],
  page: 'docs/start/first-captions.md',
} as const satisfies Command

export const TRANSCRIBE = {
  name: 'transcribe',
  purpose: 'transcribe audio files through a throw-away service',
  about: ['Streams audio files over the real WebSocket, as a user would, and shows the text while it is spoken.'],
  forms: [{ words: 'FILE...', options: ['model', 'language', 'speed', 'mode', 'output', 'json'] }],
  arguments: { FILE: { meaning: 'an audio or video file, anything that FFmpeg reads' } },
  options: {
    model: { value: 'NAME', fallback: 'demo-en', meaning: 'an installed model (stenolog models list)' },
    language: { value: 'CODE', fallback: 'en', meaning: 'the language spoken, as ISO 639-1, or auto' },
    speed: { value: 'SPEED', oneOf: ['1', 'max'], fallback: '1', meaning: 'in real time, or as fast as the service takes it' },
    mode: { value: 'MODE', oneOf: ['partial', 'final'], fallback: 'partial', meaning: 'text while it is spoken, or only text that no longer changes' },
    output: {
      value: 'FILE', meaning: 'also writes the text to FILE.srt, .vtt, .txt or .json, replacing it; takes one audio file',
      fits: { test: (text: string) => /\.(?:srt|vtt|txt|json)$/i.test(text), says: 'a file name that ends with .srt, .vtt, .txt or .json' },
    },
    json: { meaning: 'one line of JSON a file: text, segments and times' },
  },
  examples: ['transcribe talk.mp3', 'transcribe talk.mp3 --model base --output talk.srt'],
  page: 'docs/start/real-speech.md',
} as const satisfies Command

export const DOCTOR = {
  name: 'doctor',
  purpose: 'find out what is wrong with the environment, or with an audio URL',
  about: [
    'Checks by the settings of the environment: Node, models, stores, execution provider, isolation and port.',
    'With --source it pulls a URL as a session would, and tells each step. Exit code 0: all is well; 1: something is wrong.',
  ],
  forms: [{ words: '', options: ['source', 'seconds', 'json'] }],
  arguments: {},
  options: {
    source: { value: 'URL', meaning: 'the audio URL to try; - reads it from standard input, where no list of processes shows its password' },
    seconds: {
      value: 'N', fallback: '3', meaning: 'seconds of audio to hear',
      fits: { test: (text: string) => Number(text) > 0 && Number(text) <= 600, says: 'a number above 0 and at most 600' },
    },
    json: JSON_SWITCH,
  },
  examples: ['doctor', 'doctor --source rtsp://camera.example/stream --seconds 10'],
  page: 'docs/operate/troubleshooting.md',
} as const satisfies Command

export const MODELS = {
  name: 'models',
  purpose: 'list, fetch, verify, switch and remove models',
  about: [
    'Speech models and translators in STENOLOG_MODELS_DIR (default: models in the data directory), and those that ship. A running service sees at once what is pulled or removed.',
    'pull goes on where an earlier one was interrupted. A model appears only when every file has the hash of the hub and the model '
      + 'was loaded and run once, by which its memory is measured.',
    'verify tells of each file whether it is missing, damaged or changed, and measures the memory of what is right; its exit code is 1 '
      + 'where anything is wrong. remove refuses models that ship or that an open session uses.',
  ],
  forms: [
    { words: 'list', options: ['json'] },
    { words: 'pull WHAT', options: ['precision', 'as', 'revision', 'force', 'no-load', 'hub', 'json'] },
    { words: 'verify [NAME...]', options: ['json'] },
    { words: 'enable NAME', options: ['json'] },
    { words: 'disable NAME', options: ['json'] },
    { words: 'remove NAME', options: ['json'] },
  ],
  arguments: {
    WHAT: {
      meaning: 'a name (tiny, base, small, medium, large_v1, large_v2, large-v3, large-v3-turbo), a repository of the hub (owner/name) '
        + 'with an ONNX export of Whisper or OPUS-MT, or a folder (./path)',
    },
    NAME: { meaning: 'the name of an installed model' },
  },
  options: {
    precision: { value: 'P', oneOf: ['int8', 'fp32', 'fp16'], meaning: 'precision of the weights; without it what this machine runs best: int8 on a CPU, fp32 on a GPU' },
    as: { value: 'NAME', meaning: 'name of the folder and of the model; of a translator it may tell the languages (opus-mt-en-fr)' },
    revision: { value: 'R', fallback: 'main', meaning: 'branch, tag or commit' },
    force: { meaning: 'replaces a model of that name, once the new one is whole' },
    'no-load': { meaning: 'does not try the model; its memory is estimated until it is verified' },
    hub: {
      value: 'URL', meaning: 'another address than that of STENOLOG_HUB_URL, without which it is huggingface.co',
      fits: { test: (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), says: 'an http or https URL' },
    },
    json: JSON_SWITCH,
  },
  examples: ['models pull base', 'models pull Xenova/opus-mt-en-de --precision int8'],
  page: 'docs/operate/models.md',
} as const satisfies Command
