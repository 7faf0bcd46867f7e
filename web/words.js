// words.js - the words of the pages, in English and German.

const GERMAN = {
  "Log in": "Anmelden", "Register": "Registrieren", "Use a token": "Mit Token", "Username or email": "Name oder E-Mail",
  "Second factor": "Zweiter Faktor", "Backup codes": "Ersatzcodes", "Turn it on": "Einschalten", "Turn it off": "Ausschalten", "Six digits, or a backup code": "Sechs Ziffern oder ein Ersatzcode",
  "Email": "E-Mail", "Forgot the password?": "Passwort vergessen?", "Mail me a link": "Link zuschicken", "A new password": "Ein neues Passwort",
  "If there is such an account, a link is on its way to its address.": "Falls es dieses Konto gibt, ist ein Link an seine Adresse unterwegs.",
  "Your address is verified": "Deine Adresse ist bestätigt", "This link is not good any more": "Dieser Link gilt nicht mehr", "Go on": "Weiter",
  "Username": "Benutzername", "Display name": "Anzeigename", "Password": "Passwort", "Token": "Token", "Enter": "Betreten",
  "Welcome": "Willkommen", "Be one of the demo’s people": "Sei jemand aus der Demo", "Friends": "Freunde", "Direct messages": "Direktnachrichten",
  "Settings": "Einstellungen", "Workbench": "Werkbank", "Members": "Mitglieder", "All": "Alle", "Online": "Online", "Pending": "Offen",
  "Suggestions": "Vorschläge", "Blocked": "Blockiert", "Ignored": "Ignoriert", "Games": "Spiele", "Add a friend": "Freund hinzufügen", "Send request": "Anfrage senden",
  "Accept": "Annehmen", "Decline": "Ablehnen", "Remove": "Entfernen", "Block": "Blockieren", "Unblock": "Freigeben", "Message": "Nachricht",
  "Send": "Senden", "Cancel": "Abbrechen", "Save": "Speichern", "Delete": "Löschen", "Edit": "Bearbeiten", "Reply": "Antworten", "Pin": "Anheften", "Unpin": "Lösen",
  "Close": "Schließen", "Log out": "Abmelden", "Profile": "Profil", "Language": "Sprache", "Privacy": "Privatsphäre", "Sessions": "Sitzungen",
  "Connections": "Verknüpfungen", "Authorised apps": "Erlaubte Apps", "My apps": "Meine Apps", "Teams": "Teams",
  "Only you can see this": "Nur du kannst das sehen", "Dismiss": "Verwerfen", "is thinking…": "denkt nach…", "edited": "bearbeitet",
  "Connecting…": "Verbinde…", "The connection is lost. Next try in": "Verbindung verloren. Nächster Versuch in", "Jump to…": "Springe zu…",
  "New messages": "Neue Nachrichten", "Join": "Beitreten", "Leave": "Verlassen", "Today": "Heute", "Yesterday": "Gestern",
  "Submit": "Absenden", "Sending…": "Wird gesendet…", "The server does not answer.": "Der Server antwortet nicht.", "That message is further up than is looked.": "Diese Nachricht liegt weiter oben, als gesucht wird.", "Nothing here yet": "Noch nichts hier", "Online now": "Jetzt online", "Offline": "Offline", "Search": "Suchen", "Add a reaction": "Reagieren",
  "You may not write here.": "Hier darfst du nicht schreiben.", "Pinned messages": "Angeheftete Nachrichten", "Accept the invite": "Einladung annehmen",
};

const WORDS = { de: GERMAN };
let language = (localStorage.getItem("language") || navigator.language || "en").slice(0, 2);

/** A text in the person's language. @param {string} text in English */
export function t(text) {
  return WORDS[language]?.[text] ?? text;
}

export const languages = { en: "English", de: "Deutsch" };
export const currentLanguage = () => (WORDS[language] ? language : "en");

/** @param {string} code */
export function setLanguage(code) {
  language = code;
  localStorage.setItem("language", code);
  document.documentElement.lang = currentLanguage();
}
document.documentElement.lang = currentLanguage();
