import type { VNode } from 'preact'
import { checkbox, choice, textField } from '../../components/field.ts'
import { settingsFields, typedOf } from '../../components/settings-fields.ts'
import { languageName, t } from '../../messages/texts.ts'
import { changeQuery } from '../../state/address.ts'
import { isAdmin, mayKeepText, user } from '../../state/login.ts'
import { a, details, div, fieldset, legend, p, summary } from '../../ui/tags.ts'
import { linkTo } from '../../state/address.ts'
import { choose, SHIPPED, targetsOf } from './order.ts'
import type { Choices, Order } from './order.ts'

type Problems = Readonly<Record<string, string>>

const shippedOnly = ({ models }: Choices): VNode | null =>
  models.length === 0 || models.some(({ name }) => name !== SHIPPED)
    ? null
    : div(
        { class: 'notice warn' },
        p(null, t('demo_only'), ' ', isAdmin.value
          ? a({ href: linkTo('administration/models', { install: 'base' }) }, t('demo_install')) : t('demo_ask')),
      )

const modelFields = (order: Order, choices: Choices, problems: Problems): VNode => {
  const languages = choices.languages[order.model] ?? []
  const listed = languages.map(({ iso_639_1: iso, name }) => [iso, name] as const)
  const targets = targetsOf(choices, order.language)
  const most = user.value?.max_translations ?? 0
  return fieldset(
    null,
    legend(null, t('model')),
    choice({ id: 'model', text: t('model'), problem: problems['model'] }, order.model,
      choices.models.map(({ name }) => [name, name]), (model) => {
      choose({ model })
      changeQuery({ model })
    }),
    shippedOnly(choices),
    choice(
      { id: 'language', text: t('language'), problem: problems['language'] }, order.language,
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
        const isChosen = order.into.includes(target)
        return checkbox(`into-${target}`, languageName(target), isChosen, (checked) => {
          const into = checked ? [...order.into, target] : order.into.filter((one) => one !== target)
          choose({ into })
          changeQuery({ into: into.join(',') })
        }, !isChosen && order.into.length >= most)
      }),
    ),
  )
}

const lookFields = (order: Order, problems: Problems): VNode =>
  details(
    null,
    summary(null, t('look_of_captions')),
    checkbox('own-look', t('own_look'), order.hasLook, (hasLook) => choose({ hasLook })),
    textField({ id: 'background', text: t('background') }, order.background, (background) =>
      choose({ background, hasLook: true }), { type: 'color' }),
    textField({ id: 'text-color', text: t('text_color') }, order.textColor, (textColor) =>
      choose({ textColor, hasLook: true }), { type: 'color' }),
    textField(
      { id: 'text-size', text: t('text_size'), problem: problems['size_text'] }, order.textSize,
      (textSize) => choose({ textSize, hasLook: true }), { type: 'number', min: 8, max: 200 },
    ),
    textField(
      { id: 'listener-token', text: t('listener_token'), hint: t('listener_token_hint'),
        problem: problems['listener_token'] },
      order.listenerToken, (listenerToken) => choose({ listenerToken }), { autocomplete: 'off', spellcheck: false },
    ),
  )

/** Model, languages, settings and look of the next session. */
export const orderFields = (order: Order, choices: Choices, problems: Problems): VNode =>
  div(
    null,
    modelFields(order, choices, problems),
    details(
      null,
      summary(null, t('settings')),
      choice(
        { id: 'profile', text: t('profile') }, '',
        [['', t('profile_none')], ...choices.profiles.map(({ id, name }) => [String(id), name] as const)],
        (id) => {
          const profile = choices.profiles.find((one) => String(one.id) === id)
          choose(profile === undefined ? { hasSettings: false } : { settings: typedOf(profile), hasSettings: true })
        },
      ),
      settingsFields(order.settings, problems, (changed) =>
        choose({ settings: { ...order.settings, ...changed }, hasSettings: true })),
    ),
    lookFields(order, problems),
    mayKeepText.value ? checkbox('keep-text', t('keep_text'), order.keepText, (keepText) => choose({ keepText }))
      : null,
  )
