import type { Look } from './look.ts'

interface ControlOptions {
  readonly language: string | null
  readonly look: Look
  /** Returns the translation languages received so far. */
  readonly languages: () => ReadonlyArray<string>
  readonly choose: (language: string | null) => void
  readonly paint: (look: Look) => void
}

type Colours = Pick<Look, 'background' | 'text'>

const CONTRASTS: Readonly<Record<string, Colours>> = {
  'White on black': { background: '000000', text: 'ffffff' },
  'Black on white': { background: 'ffffff', text: '000000' },
  'Yellow on black': { background: '000000', text: 'ffff00' },
}
const ORIGINAL = 'Original'
const [DEFAULT_SIZE_PX, MIN_SIZE_PX, MAX_SIZE_PX] = [28, 16, 96]

const createElement = <K extends keyof HTMLElementTagNameMap>(
  name: K, members: Partial<HTMLElementTagNameMap[K]>, ...inside: ReadonlyArray<Node | string>
): HTMLElementTagNameMap[K] => {
  const element = Object.assign(document.createElement(name), members)
  element.append(...inside)
  return element
}

const labelled = (text: string, field: HTMLElement): HTMLLabelElement => createElement('label', {}, `${text} `, field)

const nameOf = (language: string): string =>
  new Intl.DisplayNames('en', { type: 'language', fallback: 'code' }).of(language) ?? language

interface LanguageField {
  readonly field: HTMLElement
  readonly offer: () => void
}

/** Creates the language field. A language appears in it after the first line in this language. */
const languageField = ({ language, languages, choose }: ControlOptions): LanguageField => {
  const select = createElement('select', { onchange: () => choose(select.value === '' ? null : select.value) },
    createElement('option', { value: '' }, 'As spoken'))
  const offered = new Set<string>()
  const add = (code: string): void => {
    // Frames come from outside: accept only valid language codes.
    if (offered.has(code) || !/^[a-z]{2,3}$/.test(code)) return
    offered.add(code)
    select.append(createElement('option', { value: code, lang: code }, nameOf(code)))
  }
  if (language !== null) add(language)
  select.value = language ?? ''
  const offer = (): void => languages().forEach(add)
  offer()
  return { field: labelled('Language', select), offer }
}

const sizeField = (onChange: (size: number) => void, size: number | null): HTMLElement => {
  const range = createElement('input', {
    type: 'range', min: String(MIN_SIZE_PX), max: String(MAX_SIZE_PX), step: '4',
    value: String(size ?? DEFAULT_SIZE_PX),
    oninput: () => onChange(Number(range.value)),
  })
  return labelled('Size', range)
}

const contrastField = (onChange: (colours: Colours) => void, original: Colours): HTMLElement => {
  const select = createElement('select', { onchange: () => onChange(CONTRASTS[select.value] ?? original) },
    ...[ORIGINAL, ...Object.keys(CONTRASTS)].map((name) => createElement('option', { value: name }, name)))
  return labelled('Contrast', select)
}

const fullScreenButton = (): HTMLElement => {
  const button = createElement('button', {
    type: 'button', hidden: !document.fullscreenEnabled,
    onclick: () => void (document.fullscreenElement === null ? document.documentElement.requestFullscreen()
      : document.exitFullscreen()),
  }, 'Full screen')
  document.addEventListener('fullscreenchange', () => {
    button.textContent = document.fullscreenElement === null ? 'Full screen' : 'Leave full screen'
  })
  return button
}

/**
 * Adds a bar above the captions: language, size, contrast and full screen. Returns a function that adds newly received
 * languages to the language field.
 */
export const addControls = (options: ControlOptions): (() => void) => {
  let { look } = options
  const update = (changed: Partial<Look>): void => {
    look = { ...look, ...changed }
    options.paint(look)
  }
  const { field, offer } = languageField(options)
  const bar = createElement('div', { id: 'controls', role: 'group', ariaLabel: 'Display' }, field,
    sizeField((size) => update({ size }), look.size), contrastField(update, look), fullScreenButton())
  document.documentElement.classList.add('controlled')
  document.body.prepend(bar)
  return offer
}
