package telegram

// method is one of the Bot API.
type method struct {
	takes string // names of its parameters, as published
	kind  int    // what the limits of the rate count
	do    func(s *Server, p params) (any, *refusal)
}

// Kinds of methods.
const (
	asks  = iota // changes nothing in a chat, or nothing that counts
	sends        // writes into a chat
)

// to are the parameters that the methods share that write into a chat.
const to = "business_connection_id chat_id message_thread_id direct_messages_topic_id disable_notification protect_content allow_paid_broadcast " +
	"message_effect_id suggested_post_parameters reply_parameters reply_markup "

var methods map[string]method

func init() {
	methods = map[string]method{
		"getMe":          {"", asks, func(s *Server, _ params) (any, *refusal) { return s.me(), nil }},
		"getUpdates":     {"offset limit timeout allowed_updates", asks, nil},
		"getWebhookInfo": {"", asks, (*Server).getWebhookInfo},
		"deleteWebhook":  {"drop_pending_updates", asks, (*Server).deleteWebhook},
		"getFile":        {"file_id", asks, (*Server).getFile},
		"getChat":        {"chat_id", asks, (*Server).getChat},
		"getChatMember":  {"chat_id user_id", asks, (*Server).getChatMember},

		"sendMessage":    {to + "text parse_mode entities link_preview_options", sends, (*Server).sendMessage},
		"sendDocument":   {to + "document thumbnail caption parse_mode caption_entities disable_content_type_detection", sends, (*Server).sendDocument},
		"sendPhoto":      {to + "photo caption parse_mode caption_entities show_caption_above_media has_spoiler", sends, (*Server).sendPhoto},
		"sendChatAction": {"business_connection_id chat_id message_thread_id action", asks, (*Server).sendChatAction},

		"editMessageText":        {edited + "text parse_mode entities link_preview_options", sends, (*Server).editMessageText},
		"editMessageCaption":     {edited + "caption parse_mode caption_entities show_caption_above_media", sends, (*Server).editMessageCaption},
		"editMessageReplyMarkup": {edited, sends, (*Server).editMessageReplyMarkup},
		"deleteMessage":          {"chat_id message_id", asks, (*Server).deleteMessage},
		"setMessageReaction":     {"chat_id message_id reaction is_big", asks, (*Server).setMessageReaction},

		"answerCallbackQuery": {"callback_query_id text show_alert url cache_time", asks, (*Server).answerCallbackQuery},
		"setMyCommands":       {"commands scope language_code", asks, (*Server).setMyCommands},
		"getMyCommands":       {"scope language_code", asks, (*Server).getMyCommands},
		"deleteMyCommands":    {"scope language_code", asks, (*Server).deleteMyCommands},
	}
}

// edited are the parameters that the methods share that change a message.
const edited = "business_connection_id chat_id message_id inline_message_id reply_markup "

// botNumber is the bot's number as a user.
const botNumber = 1000

// me is the bot.
func (s *Server) me() map[string]any {
	return map[string]any{
		"id": int64(botNumber), "is_bot": true, "first_name": "Simulated", "username": Name, "can_join_groups": true,
		"can_read_all_group_messages": !s.privacy, "supports_inline_queries": false, "can_connect_to_business": false, "has_main_web_app": false,
	}
}
