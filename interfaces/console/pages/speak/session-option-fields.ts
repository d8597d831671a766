import type { VNode } from 'preact'
import { checkbox, choice, textField } from '../../components/field.ts'
import { settingsFields, typedOf } from '../../components/settings-fields.ts'
import { languageName, t } from '../../messages/texts.ts'
import { changeQuery, linkTo } from '../../state/address.ts'
import { isAdmin, mayKeepText, user } from '../../state/login.ts'
import { a, details, div, fieldset, legend, p, summary } from '../../ui/tags.ts'
import { BUNDLED_MODEL, type Choices, choose, type SessionOptions, targetsOf } from './session-options.ts'

type Problems = Readonly<Record<string, string>>

const bundledModelNotice = ({ models }: Choices): VNode | null =>
  models.length === 0 || models.some(({ name }) => name !== BUNDLED_MODEL)
    ? null
    : div(
        { class: 'notice warn' },
        p(null, t('demo_only'), ' ', isAdmin.value
          ? a({ href: linkTo('administration/models', { install: 'base' }) }, t('demo_install')) : t('demo_ask')),
      )

const modelFields = (options: SessionOptions, choices: Choices, problems: Problems): VNode => {
  const languages = choices.languages[options.model] ?? []
  const listed = languages.map(({ iso_639_1: iso, name }) => [iso, name] as const)
  const targets = targetsOf(choices, options.language)
  const maxTranslations = user.value?.max_translations ?? 0
  return fieldset(
    null,
    legend(null, t('model')),
    choice({ id: 'model', text: t('model'), problem: problems['model'] }, options.model,
      choices.models.map(({ name }) => [name, name]), (model) => {
      choose({ model })
      changeQuery({ model })
    }),
    bundledModelNotice(choices),
    choice(
      { id: 'language', text: t('language'), problem: problems['language'] }, options.language,
      listed.length > 1 ? [['auto', t('language_auto')], ...listed] : listed,
      (language) => {
        choose({ language, into: [] })
        changeQuery({ language, into: null })
      },
    ),
    targets.length === 0 ? null : div(
      { class: 'field', role: 'group', 'aria-label': t('into') },
      p({ class: 'label' }, t('into')),
      ...targets.map((target) => {
        const isChosen = options.into.includes(target)
        return checkbox(`into-${target}`, languageName(target), isChosen, (checked) => {
          const into = checked ? [...options.into, target] : options.into.filter((code) => code !== target)
          choose({ into })
          changeQuery({ into: into.join(',') })
        }, !isChosen && options.into.length >= maxTranslations)
      }),
    ),
  )
}

const lookFields = (options: SessionOptions, problems: Problems): VNode =>
  details(
    null,
    summary(null, t('look_of_captions')),
    checkbox('own-look', t('own_look'), options.hasLook, (hasLook) => choose({ hasLook })),
    textField({ id: 'background', text: t('background') }, options.background, (background) =>
      choose({ background, hasLook: true }), { type: 'color' }),
    textField({ id: 'text-color', text: t('text_color') }, options.textColor, (textColor) =>
      choose({ textColor, hasLook: true }), { type: 'color' }),
    textField(
      { id: 'text-size', text: t('text_size'), problem: problems['size_text'] }, options.textSize,
      (textSize) => choose({ textSize, hasLook: true }), { type: 'number', min: 8, max: 200 },
    ),
    textField(
      { id: 'listener-token', text: t('listener_token'), hint: t('listener_token_hint'),
        problem: problems['listener_token'] },
      options.listenerToken, (listenerToken) => choose({ listenerToken }), { autocomplete: 'off', spellcheck: false },
    ),
  )

/** Shows the fields for model, languages, settings and look of the next session. */
export const sessionOptionFields = (options: SessionOptions, choices: Choices, problems: Problems): VNode =>
  div(
    null,
    modelFields(options, choices, problems),
    details(
      null,
      summary(null, t('settings')),
      choice(
        { id: 'profile', text: t('profile') }, '',
        [['', t('profile_none')], ...choices.profiles.map(({ id, name }) => [String(id), name] as const)],
        (id) => {
          const profile = choices.profiles.find((known) => String(known.id) === id)
          choose(profile === undefined ? { hasSettings: false } : { settings: typedOf(profile), hasSettings: true })
        },
      ),
      settingsFields(options.settings, problems, (changed) =>
        choose({ settings: { ...options.settings, ...changed }, hasSettings: true })),
    ),
    lookFields(options, problems),
    mayKeepText.value ? checkbox('keep-text', t('keep_text'), options.keepText, (keepText) => choose({ keepText }))
      : null,
  )
