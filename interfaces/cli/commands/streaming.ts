import { type Command, JSON_FLAG } from './command.ts'

export const SERVE = {
  name: 'serve',
  purpose: 'run the service, as `npm start` does',
  about: [
    'The environment variables STENOLOG_* hold the settings. On a terminal the log is readable text, elsewhere it is '
      + 'JSON lines. The first start prints a link that creates the first administrator.',
  ],
  forms: [{ words: '', options: [] }],
  arguments: {},
  options: {},
  examples: ['serve', 'serve --help'],
  page: 'docs/reference/settings.md',
} as const satisfies Command

export const DEMO = {
  name: 'demo',
  purpose: 'stream the bundled sample through a temporary service',
  about: [
    'Streams a minute of synthetic speech in real time and shows the captions as a listener sees them. Spanish '
      + 'captions follow if the translator en-es is installed. At the end it prints the transcript, the word error '
      + 'rate and the delays.',
  ],
  forms: [{ words: '', options: ['report', 'events'] }],
  arguments: {},
  options: {
    report: { value: 'FILE', meaning: 'also writes all results to FILE, as JSON' },
    events: { meaning: 'also lists the stored events of the session' },
  },
  examples: ['demo', 'demo --events --report demo.json'],
  page: 'docs/start/first-captions.md',
} as const satisfies Command

export const TRANSCRIBE = {
  name: 'transcribe',
  purpose: 'transcribe audio files through a temporary service',
  about: ['Streams audio files over the WebSocket, as a client does, and shows the text as it arrives.'],
  forms: [{ words: 'FILE...', options: ['model', 'language', 'track', 'speed', 'mode', 'output', 'json'] }],
  arguments: { FILE: { meaning: 'an audio or video file in any format that FFmpeg reads' } },
  options: {
    model: { value: 'NAME', fallback: 'demo-en', meaning: 'an installed model; stenolog models list shows all' },
    language: { value: 'CODE', fallback: 'en', meaning: 'the spoken language as an ISO 639-1 code, or auto' },
    track: {
      value: 'N', meaning: 'the audio track of a file with several, counted from 1; without it, the default track',
      rule: { test: (text: string) => /^[1-9]\d{0,3}$/.test(text), expected: 'a number from 1' },
    },
    speed: {
      value: 'SPEED', oneOf: ['1', 'max'], fallback: '1',
      meaning: 'sends the audio in real time (1) or as fast as possible (max)',
    },
    mode: {
      value: 'MODE', oneOf: ['partial', 'final'], fallback: 'partial',
      meaning: 'shows drafts and final segments (partial), or only final segments (final)',
    },
    output: {
      value: 'FILE',
      meaning: 'also writes the text to FILE and replaces an existing FILE; its name ends with .srt, .vtt, .txt or '
        + '.json; needs exactly one audio file',
      rule: {
        test: (text: string) => /\.(?:srt|vtt|txt|json)$/i.test(text),
        expected: 'a file name that ends with .srt, .vtt, .txt or .json',
      },
    },
    json: { meaning: 'prints one line of JSON for each file: text, segments and times' },
  },
  examples: ['transcribe talk.mp3', 'transcribe talk.mp3 --model base --output talk.srt'],
  page: 'docs/start/real-speech.md',
} as const satisfies Command

export const DOCTOR = {
  name: 'doctor',
  purpose: 'find problems of the environment or of an audio URL',
  about: [
    'Reads the settings and checks Node, the models, the stores, the device that runs the models, the isolation of '
      + 'decoders, the port, and whether other users can use the data or the master key.',
    'With --source it does not check the environment. It pulls the URL as a session does, and prints each step.',
    'Exit code 0: doctor found no problem. Exit code 1: it found problems.',
  ],
  forms: [{ words: '', options: ['source', 'seconds', 'json'] }],
  arguments: {},
  options: {
    source: {
      value: 'URL',
      meaning: 'the audio URL to test; use - to read the URL from standard input, so that its password does not '
        + 'appear in the process list',
    },
    seconds: {
      value: 'N', fallback: '3', meaning: 'with --source: seconds of audio to receive',
      rule: {
        test: (text: string) => Number(text) > 0 && Number(text) <= 600,
        expected: 'a number above 0 and at most 600',
      },
    },
    json: JSON_FLAG,
  },
  examples: ['doctor', 'doctor --source rtsp://camera.example/stream --seconds 10'],
  page: 'docs/operate/troubleshooting.md',
} as const satisfies Command

export const MODELS = {
  name: 'models',
  purpose: 'list, install, verify, enable, disable and remove models',
  about: [
    'Manages speech models and translators: the bundled ones, and the ones in STENOLOG_MODELS_DIR (default: the '
      + 'folder models in the data directory). A running service notices installed and removed models immediately.',
    'pull continues an interrupted download. It checks the hash of every file, then loads and runs the model once to '
      + 'measure its memory. Only then does the service list the model.',
    'verify reports missing, damaged and changed files. It measures the memory of intact models. Its exit code is 1 '
      + 'if it finds a problem. remove refuses bundled models and models that an open session uses.',
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
      meaning: 'a name (tiny, base, small, medium, large_v1, large_v2, large-v3, large-v3-turbo), a hub repository '
        + '(owner/name) with an ONNX export of Whisper or OPUS-MT, or a folder (./path)',
    },
    NAME: { meaning: 'the name of an installed model' },
  },
  options: {
    precision: {
      value: 'PRECISION', oneOf: ['int8', 'fp32', 'fp16'],
      meaning: 'number format of the weights; fewer bits need less memory; default: int8 on a CPU, fp32 on a GPU',
    },
    as: {
      value: 'NAME',
      meaning: 'installs the model under this name; if the files of a translator do not say which languages it '
        + 'translates, NAME must end with the two language codes, such as opus-mt-en-fr',
    },
    revision: { value: 'R', fallback: 'main', meaning: 'branch, tag or commit of the repository' },
    force: { meaning: 'replaces the installed model of this name after the download is complete' },
    'no-load': { meaning: 'skips the trial run; the memory is estimated until stenolog models verify measures it' },
    hub: {
      value: 'URL', meaning: 'address of the hub; default: STENOLOG_HUB_URL, or else huggingface.co',
      rule: {
        test: (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
        expected: 'an http or https URL',
      },
    },
    json: JSON_FLAG,
  },
  examples: ['models pull base', 'models pull Xenova/opus-mt-en-de --precision int8'],
  page: 'docs/operate/models.md',
} as const satisfies Command
