import type { Look } from './look.ts'

interface Controlled {
  readonly language: string | null
  readonly look: Look
  /** Those that have been heard so far beside what is spoken. */
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
const GIVEN = 'As given'
const [USUAL_SIZE, SMALLEST, LARGEST] = [28, 16, 96]

const element = <K extends keyof HTMLElementTagNameMap>(
  name: K, members: Partial<HTMLElementTagNameMap[K]>, ...inside: ReadonlyArray<Node | string>
): HTMLElementTagNameMap[K] => {
  const made = Object.assign(document.createElement(name), members)
  made.append(...inside)
  return made
}

const labelled = (text: string, field: HTMLElement): HTMLLabelElement => element('label', {}, `${text} `, field)

const nameOf = (language: string): string =>
  new Intl.DisplayNames('en', { type: 'language', fallback: 'code' }).of(language) ?? language

interface LanguageField {
  readonly field: HTMLElement
  readonly offer: () => void
}

/** Languages join the choice when the first line in them comes. */
const languageField = ({ language, languages, choose }: Controlled): LanguageField => {
  const select = element('select', { onchange: () => choose(select.value === '' ? null : select.value) },
    element('option', { value: '' }, 'As spoken'))
  const known = new Set<string>()
  const add = (code: string): void => {
    // Whatever a frame says is text, but only a code is a language.
    if (known.has(code) || !/^[a-z]{2,3}$/.test(code)) return
    known.add(code)
    select.append(element('option', { value: code, lang: code }, nameOf(code)))
  }
  if (language !== null) add(language)
  select.value = language ?? ''
  const offer = (): void => languages().forEach(add)
  offer()
  return { field: labelled('Language', select), offer }
}

const sizeField = (take: (size: number) => void, size: number | null): HTMLElement => {
  const range = element('input', {
    type: 'range', min: String(SMALLEST), max: String(LARGEST), step: '4', value: String(size ?? USUAL_SIZE),
    oninput: () => take(Number(range.value)),
  })
  return labelled('Size', range)
}

const contrastField = (take: (colours: Colours) => void, given: Colours): HTMLElement => {
  const select = element('select', { onchange: () => take(CONTRASTS[select.value] ?? given) },
    ...[GIVEN, ...Object.keys(CONTRASTS)].map((name) => element('option', { value: name }, name)))
  return labelled('Contrast', select)
}

const fullScreenButton = (): HTMLElement => {
  const button = element('button', {
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
 * A bar over the captions for an audience: which language, how large, in which colours, and nothing else on the screen.
 * Answers what offers the languages that have been heard since.
 */
export const addControls = (controlled: Controlled): (() => void) => {
  let { look } = controlled
  const take = (changed: Partial<Look>): void => {
    look = { ...look, ...changed }
    controlled.paint(look)
  }
  const { field, offer } = languageField(controlled)
  const bar = element('div', { id: 'controls', role: 'group', ariaLabel: 'Display' }, field,
    sizeField((size) => take({ size }), look.size), contrastField(take, look), fullScreenButton())
  document.documentElement.classList.add('controlled')
  document.body.prepend(bar)
  return offer
}
