import type { VNode } from 'preact'
import { modal } from '../components/dialog.ts'
import { t, type TextName } from '../messages/texts.ts'
import { isExpired, user } from '../state/login.ts'
import { dd, div, dl, dt, p, view } from '../ui/tags.ts'
import { logInForm } from './credentials.ts'
import { isHelpOpen } from './keys.ts'

const HELP: ReadonlyArray<readonly [keys: string, text: TextName]> = [
  ['?', 'keys_help'], ['g s', 'keys_speak'], ['g l', 'keys_sessions'], ['g a', 'keys_admin'], ['/', 'keys_search'],
  ['Ctrl+Enter', 'keys_start'], ['m', 'keys_mute'], ['End', 'keys_newest'], ['[ ]', 'keys_event'],
  ['Esc', 'keys_close'],
]

const KeyHelp = (): VNode | null =>
  isHelpOpen.value
    ? modal({
        title: t('keys_title'),
        close: () => (isHelpOpen.value = false),
        children: dl({ class: 'keys' }, ...HELP.flatMap(([keys, text]) => [dt(null, keys), dd(null, t(text))])),
      })
    : null

const Expired = (): VNode | null =>
  isExpired.value
    ? modal({ title: t('expired_title'),
      children: [p(null, t('expired_text')), logInForm({ initialUsername: user.value?.username ?? '' })] })
    : null

const Dialogs = (): VNode => div(null, view(Expired)({}), view(KeyHelp)({}))

/** Shows the dialogs over the page: the renewed login and the keyboard help. */
export const dialogs = view(Dialogs)
